// One lookup, step by step.
import {ask, byId, bytesText, duration, el, meter, plural} from './dom.js';
import {tableAsked} from './tree.js';

const kStepMs = 220;
let turn = 0;

export function startLookup() {
  byId('lookup-form').addEventListener('submit', (event) => {
    event.preventDefault();
    void show();
  });
}

export function lookUp(key) {
  byId('lookup-key').value = key;
  byId('lookup-hex').checked = false;
  byId('lookup').scrollIntoView();
  byId('lookup-key').focus({preventScroll: true});
  void show();
}

/** Shows the choice only if there is one. */
export function showKeyspaces(keyspaces) {
  const select = byId('lookup-keyspace');
  const names = keyspaces.filter((keyspace) => keyspace.name !== undefined).map((keyspace) => keyspace.name);
  if (JSON.stringify(names) === select.dataset.names) return;
  select.dataset.names = JSON.stringify(names);
  select.replaceChildren(...names.map((name) => el('option', {value: name}, name)));
  byId('lookup-keyspace-label').hidden = names.length < 2;
}

async function show() {
  const mine = ++turn;
  const parameters = {key: byId('lookup-key').value};
  if (byId('lookup-hex').checked) parameters.hex = 1;
  if (!byId('lookup-keyspace-label').hidden) parameters.keyspace = byId('lookup-keyspace').value;
  const steps = byId('lookup-steps');
  let explanation;
  try {
    explanation = await ask('explain', parameters);
  } catch (error) {
    steps.replaceChildren();
    byId('lookup-result').replaceChildren(el('p', {class: 'result'}, el('b', {}, 'No lookup'), el('span', {}, error.message)));
    return;
  }
  if (mine !== turn) return;
  const most = Math.max(1, ...explanation.steps.map((step) => step.nanoseconds));
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  steps.replaceChildren();
  byId('lookup-result').replaceChildren();
  for (const step of explanation.steps) {
    steps.append(rowOf(step, most));
    if (step.table !== null && step.outcome !== 'outside') tableAsked(step.table);
    if (!isStill) await new Promise((done) => setTimeout(done, kStepMs));
    if (mine !== turn) return;
  }
  byId('lookup-result').replaceChildren(resultOf(explanation));
}

function resultOf(explanation) {
  const saved = explanation.steps.filter((step) => step.outcome === 'ruled out').length;
  return el('div', {class: 'result', 'data-key': bytesText(explanation, 'key'), 'data-found': String(explanation.found), 'data-reads': explanation.reads, 'data-metadata-reads': explanation.metadata_reads},
            el('b', {}, explanation.found ? 'Found' : 'Not found'),
            explanation.found ? el('span', {class: 'mono'}, explanation.fold_error || bytesText(explanation, 'value').slice(0, 2000)) : null,
            el('span', {}, `${plural(explanation.reads, 'block read')}, ${plural(explanation.metadata_reads, 'index or filter read')}, ${duration(explanation.nanoseconds)}`),
            saved ? el('span', {}, `filters avoided ${plural(saved, 'read')}`) : null);
}

function stagesOf(step) {
  const stages = [];
  const add = (name, value, kind = '') => stages.push({name, value, kind});
  if (step.outcome === 'outside') {
    add('keys', 'outside', 'no');
    return stages;
  }
  if (step.where === 'table') {
    const filter = step.filter;
    if (filter && filter.verdict.startsWith('not asked')) {
      add('run index', 'no', 'no');
      return stages;
    }
    if (!filter) add('filter', 'none');
    else add(`filter ${filter.kind}${filter.bits_per_key ? `, ${filter.bits_per_key.toFixed(1)} bits` : ''}`, filter.verdict, filter.verdict === 'no' ? 'no' : 'maybe');
    if (filter && filter.verdict === 'no') return stages;
    add('index', step.metadata_reads ? plural(step.metadata_reads, 'read') : 'in memory');
  }
  if (step.block) add(step.where === 'value file' ? 'value' : 'block', step.block.source === 'disk' ? 'read from file' : 'in cache', step.block.source === 'disk' ? 'maybe' : '');
  add('', step.outcome, ['found', 'deleted', 'expired', 'merge operand'].includes(step.outcome) ? 'end' : '');
  return stages;
}

function rowOf(step, most) {
  const where = step.where === 'table' || step.where === 'run' ? `level ${step.level}, run ${step.run}` : step.where === 'value file' ? `file ${step.table}` : 'in memory';
  const title = step.where === 'table' ? `Table ${step.table}` : step.where.charAt(0).toUpperCase() + step.where.slice(1);
  const stages = stagesOf(step).map((stage, i) => [
    i ? el('span', {class: 'arrow', 'aria-hidden': 'true'}, '→') : null,
    el('span', {class: `stage ${stage.kind}`}, stage.name ? `${stage.name} ` : '', el('b', {}, stage.value)),
  ]);
  const reads = step.reads + step.metadata_reads;
  return el('li', {class: 'fresh', 'data-where': step.where, 'data-table': step.table, 'data-outcome': step.outcome, 'data-reads': step.reads},
            el('div', {class: 'where'}, el('b', {}, title), el('span', {}, where)),
            el('div', {class: 'stages'}, stages.flat()),
            el('div', {class: 'cost'}, `${reads ? plural(reads, 'read') : 'no read'}, ${duration(step.nanoseconds)}`, meter(step.nanoseconds / most, reads ? 'second' : '')));
}
