// Starts the parts of the page, and asks for the counters every second.
import {ask, byId, bytes, count, duration, percent, showTiles, small} from './dom.js';
import {loadTables, showLevels, startTree} from './tree.js';
import {lookUp, showKeyspaces, startLookup} from './lookup.js';
import {addSample, startLive} from './live.js';
import {loadPlan, startPlan} from './plan.js';
import {startLab} from './lab.js';

const kPollMs = 1000;
/** What depends on the shape of the tree; asked for again when that has changed, at most so often. */
const kShapeParts = [
  {load: loadTables, everyMs: 3000, shape: '', time: 0},
  {load: loadPlan, everyMs: 15000, shape: '', time: 0},
];

function alertUser(text) {
  byId('alert').hidden = text === '';
  byId('alert').textContent = text;
}

function showSummary(stats) {
  const sum = (field) => stats.levels.reduce((total, level) => total + level[field], 0);
  const blocks = stats.cache.hits + stats.cache.misses;
  showTiles(byId('tiles'), [
    {id: 'entries', label: 'entries in tables', value: sum('entries'), text: count(sum('entries'))},
    {id: 'bytes_on_disk', label: 'tables and values', value: stats.bytes_on_disk, text: bytes(stats.bytes_on_disk)},
    {id: 'tables', label: 'tables', value: sum('tables'), text: count(sum('tables')), note: `in ${count(sum('runs'))} runs`},
    {id: 'sequence', label: 'writes, ever', value: stats.sequence, text: count(stats.sequence)},
    {id: 'memory', label: 'memory', value: stats.memory.used, text: bytes(stats.memory.used), note: `of ${bytes(stats.memory.budget)}`},
    {id: 'cache', label: 'block cache hits', value: stats.cache.hits, text: blocks ? percent(stats.cache.hits / blocks) : '–', note: `${bytes(stats.cache.bytes)} of ${bytes(stats.cache.capacity_bytes)}`},
    {id: 'write_amplification', label: 'write amplification', value: stats.write_amplification, text: stats.write_amplification ? small(stats.write_amplification) : '–'},
    {id: 'space_amplification', label: 'space amplification', value: stats.space_amplification, text: stats.space_amplification ? small(stats.space_amplification) : '–'},
  ]);
  byId('source').textContent = stats.writer ?
      `Process ${stats.writer.process_id} writes it; its counters are ${duration(1e6 * stats.writer.age_ms)} old.` :
      'No process writes it now.';
  alertUser(stats.background_error ? `Writes have stopped: ${stats.background_error}` : '');
}

async function poll() {
  try {
    const stats = await ask('stats');
    showSummary(stats);
    showLevels(stats);
    showKeyspaces(stats.keyspaces);
    addSample(stats);
    const shape = JSON.stringify(stats.levels.map((level) => [level.runs, level.tables, level.bytes]));
    for (const part of kShapeParts) {
      if (shape === part.shape || Date.now() - part.time < part.everyMs) continue;
      part.shape = shape;
      part.time = Date.now();
      await part.load();
    }
    document.documentElement.dataset.ready = 'true';
  } catch (error) {
    alertUser(error instanceof TypeError ? 'There is no answer: has tamis web ended? The figures below are the last ones.' : error.message);
  }
  setTimeout(poll, kPollMs);
}

/** Marks the section in view in the navigation. */
function followSections() {
  const links = new Map([...document.querySelectorAll('nav a')].map((link) => [link.hash.slice(1), link]));
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute('aria-current');
      links.get(entry.target.id).setAttribute('aria-current', 'true');
    }
  }, {rootMargin: '-20% 0px -70% 0px'});
  for (const id of links.keys()) observer.observe(byId(id));
}

async function start() {
  startTree(lookUp);
  startLookup();
  startLive();
  startPlan();
  followSections();
  const about = await ask('about');
  const name = about.store !== undefined ? about.store : `0x${about.store_hex}`;
  byId('store-name').textContent = name;
  document.title = `${name} – tamis`;
  byId('footer').textContent = `tamis ${about.version}. This page only reads, and only this machine can open it.`;
  startLab(about.filter_kinds);
  await poll();
}

start().catch((error) => alertUser(error.message));
