// The filter plan, for any amount of memory.
import {ask, byId, bytes, count, meter, percent, showTable, showTiles, small, el} from './dom.js';
import {curveChart} from './chart.js';

const kMostBits = 24;
const state = {keys: 0, shape: '', curve: [], turn: 0};

const memoryFor = (bits) => Math.round((bits * state.keys) / 8);

export function startPlan() {
  byId('plan-memory').addEventListener('input', () => void show());
}

/** The plan of the store as it is; asked for again when its runs have changed. */
export async function loadPlan() {
  const plan = await ask('plan');
  state.keys = plan.runs.reduce((sum, run) => sum + run.keys, 0);
  const shape = JSON.stringify(plan.runs.map((run) => [run.level, run.run, run.keys]));
  if (shape === state.shape) return;
  state.shape = shape;
  if (state.keys && !state.curve.length) byId('plan-memory').value = String(Math.min(kMostBits, Math.round((32 * plan.filter_memory) / state.keys) / 4));
  await show();
  const curve = [];
  for (let bits = 0; bits <= kMostBits && state.keys; bits += 2) {
    const at = await ask('plan', {filter_memory: memoryFor(bits)});
    curve.push({bits, first: at.wasted_reads, second: at.wasted_reads_uniform});
  }
  state.curve = curve;
  await show();
}

async function show() {
  const mine = ++state.turn;
  const bits = Number(byId('plan-memory').value);
  byId('plan-memory').disabled = state.keys === 0;
  byId('plan-memory-text').textContent = `${bytes(memoryFor(bits))}, ${bits} bits per key`;
  byId('plan-memory').setAttribute('aria-valuetext', byId('plan-memory-text').textContent);
  const plan = await ask('plan', {filter_memory: memoryFor(bits)});
  if (mine !== state.turn) return;
  byId('plan-memory-text').dataset.value = plan.filter_memory;
  showTiles(byId('plan-tiles'), [
    {id: 'wasted_reads', label: 'wasted reads, planned', value: plan.wasted_reads, text: small(plan.wasted_reads), note: 'per lookup of an absent key'},
    {id: 'wasted_reads_uniform', label: 'with equal bits', value: plan.wasted_reads_uniform, text: small(plan.wasted_reads_uniform), note: ratioText(plan)},
    {id: 'filter_bytes_now', label: 'filters in memory now', value: plan.filter_bytes_now, text: bytes(plan.filter_bytes_now), note: `of all keyspaces; reads in vain ${small(plan.wasted_reads_now)}`},
  ]);
  showRuns(plan);
  if (state.curve.length) {
    const here = {bits, first: plan.wasted_reads, second: plan.wasted_reads_uniform};
    const points = [...state.curve, here].sort((a, b) => a.bits - b.bits);
    byId('plan-curve').replaceChildren(...curveChart({
      x: points.map((point) => point.bits),
      first: points.map((point) => point.first),
      second: points.map((point) => point.second),
      at: {x: bits, first: here.first, second: here.second},
      xLabel: 'bits per key',
      labels: ['planned', 'equal bits per key'],
      xText: `Wasted reads per lookup of an absent key over bits per key. At ${bits}: ${small(plan.wasted_reads)} planned, ${small(plan.wasted_reads_uniform)} with equal bits.`,
    }));
  }
}

function ratioText(plan) {
  if (plan.wasted_reads <= 0 || plan.wasted_reads_uniform <= 0) return 'in every run';
  return `${small(plan.wasted_reads_uniform / plan.wasted_reads)} times as many`;
}

function showRuns(plan) {
  const most = Math.max(1, ...plan.runs.map((run) => run.bits_per_key));
  showTable(byId('plan-table'), [
    {label: 'level', field: 'level', of: (run) => String(run.level)},
    {label: 'run', field: 'run', of: (run) => String(run.run)},
    {label: 'keys', field: 'keys', of: (run) => count(run.keys)},
    {label: 'filter', text: true, field: 'kind', of: (run) => run.kind},
    {label: 'bits per key', text: true, field: 'bits_per_key', of: (run) => el('span', {}, meter(run.bits_per_key / most), ` ${run.bits_per_key.toFixed(2)}`)},
    {label: 'size', field: 'bytes', of: (run) => bytes(run.bytes)},
    {label: 'rate', field: 'fpr', of: (run) => percent(run.fpr)},
  ], plan.runs);
}
