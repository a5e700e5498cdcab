// Rates over the last two minutes, from counters that are asked for every second.
import {byId, bytes, el, percent, short, small} from './dom.js';
import {areaChart} from './chart.js';

const kRoom = 120;
const samples = [];
let isPaused = false;

const total = (stats, field) => stats.levels.reduce((sum, level) => sum + level[field], 0);

const kCharts = [
  {id: 'gets', title: 'Lookups per second', of: (s) => s.gets, text: short},
  {id: 'writes', title: 'Writes per second', of: (s) => s.writes, text: short},
  {id: 'blocks', title: 'Blocks read per second', of: (s) => total(s, 'blocks_read'), text: short},
  {id: 'filters', title: 'Reads avoided by filters, per second', of: (s) => total(s, 'negatives'), second: (s) => total(s, 'false_positives'), text: short, secondText: 'false positives'},
  {id: 'written', title: 'Bytes written per second', of: (s) => s.bytes_written, text: bytes},
  {id: 'cache', title: 'Block cache hits', share: (s) => [s.cache.hits, s.cache.hits + s.cache.misses], text: percent},
  {id: 'memory', title: 'Memory used', level: (s) => s.memory.used, text: bytes, note: (s) => `of ${bytes(s.memory.budget)}`},
  {id: 'runs', title: 'Runs that a lookup can ask', level: (s) => total(s, 'runs'), text: small},
];

export function startLive() {
  byId('live-pause').addEventListener('click', (event) => {
    isPaused = !isPaused;
    event.target.setAttribute('aria-pressed', String(isPaused));
    event.target.textContent = isPaused ? 'Go on' : 'Pause';
  });
  byId('charts').replaceChildren(...kCharts.map((chart) => el('div', {class: 'chart', 'data-id': chart.id}, el('h3', {}, chart.title), el('p', {}, '–'), el('div', {class: 'plot'}))));
}

/** Counters belong to the moment at which the writer published them. Those of another process begin again. */
export function addSample(stats) {
  const time = Date.now() - (stats.writer ? stats.writer.age_ms : 0);
  const process = stats.writer ? stats.writer.process_id : 0;
  const last = samples[samples.length - 1];
  if (last && last.process !== process) samples.length = 0;
  if (last && last.process === process && time - last.time < 500) return;
  samples.push({time, process, stats});
  if (samples.length > kRoom + 1) samples.shift();
  byId('live-note').textContent = stats.writer ?
      `What process ${process} has counted. It publishes that about once a second.` :
      'No process has the store open for writing. Lookups are those of this page.';
  if (!isPaused) draw();
}

function perSecond(of) {
  return samples.slice(1).map((sample, i) => Math.max(0, (1000 * (of(sample.stats) - of(samples[i].stats))) / (sample.time - samples[i].time)));
}

function shares(of) {
  return samples.slice(1).map((sample, i) => {
    const [part, whole] = of(sample.stats);
    const [partBefore, wholeBefore] = of(samples[i].stats);
    return whole > wholeBefore ? (part - partBefore) / (whole - wholeBefore) : 0;
  });
}

function draw() {
  for (const chart of kCharts) {
    const box = byId('charts').querySelector(`[data-id="${chart.id}"]`);
    const values = chart.level ? samples.map((sample) => chart.level(sample.stats)) : chart.share ? shares(chart.share) : perSecond(chart.of);
    const second = chart.second ? perSecond(chart.second) : null;
    const now = values.length ? values[values.length - 1] : null;
    let note = chart.note ? chart.note(samples[samples.length - 1].stats) : values.length ? `most ${chart.text(Math.max(...values))}` : '';
    if (second && second.length) note += `; ${chart.secondText} ${chart.text(second[second.length - 1])}`;
    box.querySelector('p').replaceChildren(now === null ? '–' : chart.text(now), ' ', el('small', {}, note));
    box.querySelector('.plot').replaceChildren(areaChart(values, second, kRoom));
  }
}
