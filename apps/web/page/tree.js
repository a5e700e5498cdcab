// The tree: levels, runs and tables as blocks, and the levels as a table.
import {ask, byId, bytes, bytesText, count, el, meter, percent, plural, showTable, small} from './dom.js';

/** More blocks of one run than this are drawn together. */
const kMaxBlocks = 240;

const state = {tables: [], levels: [], selected: null, asked: new Map(), lookUp: () => {}};

/** `lookUp(key)` shows the lookup of a key. */
export function startTree(lookUp) {
  state.lookUp = lookUp;
  byId('tree-shade').addEventListener('change', draw);
  byId('levels').addEventListener('keydown', moveFocus);
}

export async function loadTables() {
  state.tables = (await ask('tree')).tables;
  draw();
}

export function showLevels(stats) {
  const before = JSON.stringify(state.levels);
  state.levels = stats.levels;
  if (before !== JSON.stringify(state.levels)) {
    shade();
    showLevelTable();
  }
}

/** A lookup on this page has asked this table. */
export function tableAsked(number) {
  state.asked.set(number, (state.asked.get(number) || 0) + 1);
  shade();
  const block = byId('levels').querySelector(`[data-tables~="${number}"]`);
  if (!block) return;
  block.classList.remove('asked');
  void block.offsetWidth;
  block.classList.add('asked');
}

function groupBy(items, key) {
  const groups = new Map();
  for (const item of items) {
    if (!groups.has(item[key])) groups.set(item[key], []);
    groups.get(item[key]).push(item);
  }
  return groups;
}

/** Neighbours that are drawn as one block. */
function blocksOf(tables) {
  const size = Math.ceil(tables.length / kMaxBlocks);
  const blocks = [];
  for (let i = 0; i < tables.length; i += size) blocks.push(tables.slice(i, i + size));
  return blocks;
}

const sum = (tables, field) => tables.reduce((total, table) => total + table[field], 0);

function labelOf(tables) {
  if (tables.length > 1) return `${tables.length} tables from ${tables[0].table}, ${bytes(sum(tables, 'bytes'))}`;
  const table = tables[0];
  return `Table ${table.table}, level ${table.level}, ${bytes(table.bytes)}, ${plural(table.keys, 'key')}, filter ${filterText(table)}`;
}

function filterText(table) {
  if (table.kind === 'none') return 'none';
  if (table.stored_columns > 1) return `${table.kind}, ${table.columns} of ${table.stored_columns} bits per key`;
  return `${table.kind}, ${table.columns > 0 ? 'in memory' : 'not in memory'}`;
}

function blockOf(tables) {
  const stored = sum(tables, 'stored_columns');
  return el('button', {
    type: 'button',
    class: 'block',
    tabindex: '-1',
    title: labelOf(tables),
    'aria-label': labelOf(tables),
    'aria-pressed': 'false',
    'data-tables': tables.map((table) => table.table).join(' '),
    style: {'flex-grow': String(sum(tables, 'bytes')), '--filter': `${stored === 0 ? 0 : 100 * sum(tables, 'columns') / stored}%`},
    onclick: () => select(tables),
    onfocus: (event) => rove(event.target),
  });
}

function draw() {
  const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.tables : null;
  const runs = [...groupBy(state.tables, 'run').values()];
  const widest = Math.max(1, ...runs.map((run) => sum(run, 'bytes')));
  const levels = groupBy(state.tables, 'level');
  const rows = [...levels.keys()].sort((a, b) => a - b).map((level) => {
    const tables = levels.get(level);
    const inLevel = [...groupBy(tables, 'run').values()];
    return el('div', {class: 'level', role: 'group', 'aria-label': `Level ${level}`},
              el('div', {class: 'level-name'}, el('b', {}, `Level ${level}`),
                 el('span', {}, `${plural(inLevel.length, 'run')}, ${plural(tables.length, 'table')}`),
                 el('span', {}, bytes(sum(tables, 'bytes')))),
              el('div', {class: 'runs'},
                 inLevel.map((run) => el('div', {class: 'run', style: {width: `${100 * sum(run, 'bytes') / widest}%`}},
                                         blocksOf(run).map(blockOf)))));
  });
  byId('levels').replaceChildren(...(rows.length ? rows : [el('p', {class: 'empty'}, 'No tables yet: all entries are in the memtable.')]));
  shade();
  const blocks = [...byId('levels').querySelectorAll('.block')];
  const again = blocks.find((block) => focused && block.dataset.tables === focused);
  if (blocks.length) (again || blocks[0]).tabIndex = 0;
  if (again) again.focus({preventScroll: true});
  if (state.selected) select(state.tables.filter((table) => table.table === state.selected));
}

/** How much is asked, as a share of the most; on a logarithmic scale, because levels differ by orders of magnitude. */
function heatOf(table) {
  const mode = byId('tree-shade').value;
  if (mode === 'page') return state.asked.get(table.table) || 0;
  if (mode === 'rate') return table.fpr;
  const level = state.levels[table.level];
  return level && level.tables ? level.probes / level.tables : 0;
}

function shade() {
  const numbers = new Map(state.tables.map((table) => [table.table, table]));
  const blocks = [...byId('levels').querySelectorAll('.block')];
  const heats = blocks.map((block) => {
    const tables = block.dataset.tables.split(' ').map((number) => numbers.get(Number(number))).filter(Boolean);
    return tables.reduce((total, table) => total + heatOf(table), 0) / Math.max(1, tables.length);
  });
  const isRate = byId('tree-shade').value === 'rate';
  const most = Math.max(...heats, 0);
  blocks.forEach((block, i) => {
    // A rate of 1 is dark, one of 1e-6 pale.
    const share = isRate ? Math.max(0, 1 + Math.log10(Math.max(heats[i], 1e-6)) / 6) : most > 0 ? Math.log1p(heats[i]) / Math.log1p(most) : 0;
    block.style.setProperty('--heat', `${Math.round(100 * share)}%`);
  });
}

function rove(block) {
  for (const other of byId('levels').querySelectorAll('.block[tabindex="0"]')) other.tabIndex = -1;
  block.tabIndex = 0;
}

function moveFocus(event) {
  const blocks = [...byId('levels').querySelectorAll('.block')];
  const at = blocks.indexOf(document.activeElement);
  if (at < 0) return;
  const runs = [...byId('levels').querySelectorAll('.run')];
  const run = runs.indexOf(blocks[at].parentElement);
  const inRun = (to) => {
    const target = runs[Math.min(Math.max(to, 0), runs.length - 1)].children;
    const share = [...blocks[at].parentElement.children].indexOf(blocks[at]) / blocks[at].parentElement.children.length;
    return target[Math.floor(share * target.length)];
  };
  const moves = {
    ArrowRight: () => blocks[Math.min(at + 1, blocks.length - 1)],
    ArrowLeft: () => blocks[Math.max(at - 1, 0)],
    ArrowDown: () => inRun(run + 1),
    ArrowUp: () => inRun(run - 1),
    Home: () => blocks[0],
    End: () => blocks[blocks.length - 1],
  };
  if (!moves[event.key]) return;
  event.preventDefault();
  moves[event.key]().focus();
}

function select(tables) {
  for (const block of byId('levels').querySelectorAll('.block')) {
    block.setAttribute('aria-pressed', String(tables.length > 0 && block.dataset.tables.split(' ').includes(String(tables[0].table))));
  }
  state.selected = tables.length ? tables[0].table : null;
  if (!tables.length) return byId('table-details').replaceChildren();
  if (tables.length > 1) return byId('table-details').replaceChildren(el('p', {}, labelOf(tables)));
  const table = tables[0];
  const row = (label, value, text) => el('div', {}, el('dt', {}, label), el('dd', {'data-value': value, title: text}, text));
  const first = table.smallest_key;
  byId('table-details').replaceChildren(
      el('div', {class: 'head'}, el('b', {}, `Table ${table.table}`),
         first === undefined ? null : el('button', {type: 'button', onclick: () => state.lookUp(first)}, 'Look up its first key')),
      el('dl', {},
         row('level, run', table.run, `${table.level}, ${table.run}`),
         row('size', table.bytes, bytes(table.bytes)),
         row('keys', table.keys, count(table.keys)),
         row('first key', '', bytesText(table, 'smallest_key')),
         row('last key', '', bytesText(table, 'largest_key')),
         row('filter', table.kind, filterText(table)),
         row('filter in memory', table.columns, table.columns === 0 ? '0 B' : bytes(table.first_bytes + (table.columns - 1) * table.column_bytes)),
         row('false-positive rate', table.fpr, percent(table.fpr)),
         row('with all of it', table.fpr_stored, percent(table.fpr_stored)),
         row('asked in vain, per lookup', table.asked_in_vain, small(table.asked_in_vain))));
}

const number = (label, field) => ({label, field, of: (level) => count(level[field])});
const kColumns = [
  {label: 'level', field: 'level', of: (level) => String(level.level)},
  number('runs', 'runs'), number('tables', 'tables'),
  {label: 'size', field: 'bytes', of: (level) => bytes(level.bytes)},
  number('entries', 'entries'), number('tombstones', 'tombstones'),
  {label: 'filter', text: true, field: 'filter_kind', of: (level) => level.filter_kind || 'none'},
  {label: 'bits/key', field: 'bits_per_key', of: (level) => level.bits_per_key.toFixed(2)},
  {label: 'designed rate', field: 'fpr_designed', of: (level) => percent(level.fpr_designed)},
  {label: 'observed rate', field: 'fpr_observed', of: (level) => (level.negatives + level.false_positives ? percent(level.fpr_observed) : '–')},
  number('probes', 'probes'),
  {label: 'answered no', field: 'negatives', of: (level) => (level.probes ? el('span', {}, `${count(level.negatives)} `, meter(level.negatives / level.probes)) : '0')},
  number('false positives', 'false_positives'), number('hits', 'hits'), number('blocks read', 'blocks_read'),
];

function showLevelTable() {
  showTable(byId('level-table'), kColumns, state.levels);
}
