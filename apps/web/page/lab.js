// The lab: one filter, its keys and its bits. The server makes the filter anew each time; the keys are kept here.
import {ask, byId, bytes, count, el, percent, plural, showTiles} from './dom.js';

const kMaxTyped = 60;  // They all go into the address of a request.
const kGrid = 64;      // Bits per row.

const state = {kinds: [], typed: [], generated: 0, probe: null, answer: null, before: null, turn: 0};

export function startLab(kinds) {
  state.kinds = kinds;
  byId('lab-kind').replaceChildren(...kinds.map((kind) => el('option', {value: kind.kind, selected: kind.kind === 'bloom'}, kind.kind)));
  for (const id of ['lab-kind', 'lab-capacity']) byId(id).addEventListener('change', () => void make(true));
  byId('lab-bits').addEventListener('input', () => void make(true));
  onSubmit('lab-add-form', () => {
    const key = byId('lab-add').value;
    if (key === '') return;
    if (state.typed.length === kMaxTyped) return tell(`At most ${kMaxTyped} keys can be typed here; insert some that are made up.`);
    state.typed.push(key);
    state.probe = null;
    byId('lab-add').value = '';
    void make(false);
  });
  onSubmit('lab-probe-form', () => {
    state.probe = byId('lab-probe').value;
    void make(false);
  });
  byId('lab-more').addEventListener('click', () => addGenerated(10));
  byId('lab-fill').addEventListener('click', () => addGenerated(Math.max(0, capacity() - state.typed.length - state.generated)));
  byId('lab-clear').addEventListener('click', () => {
    state.typed = [];
    state.generated = 0;
    state.probe = null;
    void make(true);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => draw());
  new ResizeObserver(() => draw()).observe(byId('lab-grid').parentElement);
  void make(true);
}

function onSubmit(id, work) {
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault();
    work();
  });
}

const capacity = () => Math.max(1, Math.floor(Number(byId('lab-capacity').value) || 1));
const tell = (...text) => byId('lab-answer').replaceChildren(...text);

function addGenerated(number) {
  state.generated += number;
  state.probe = null;
  void make(false);
}

/** Made-up keys go in after the typed ones, so the last key is what was inserted last only if none was made up. */
async function make(isOther) {
  const mine = ++state.turn;
  byId('lab-bits-text').textContent = byId('lab-bits').value;
  byId('lab-summary').textContent = state.kinds.find((kind) => kind.kind === byId('lab-kind').value)?.summary || '';
  const parameters = {kind: byId('lab-kind').value, capacity: capacity(), bits_per_key: byId('lab-bits').value, key: state.typed, generated: state.generated};
  if (state.probe !== null) parameters.probe = state.probe;
  try {
    const answer = await ask('filter-lab', parameters);
    if (mine !== state.turn) return;
    state.before = isOther || !state.answer || state.answer.body_hex.length !== answer.body_hex.length ? null : state.answer.body_hex;
    state.answer = answer;
  } catch (error) {
    return tell(error.message);
  }
  showAnswer();
  showFigures();
  draw();
}

function showAnswer() {
  const {probe, refused} = state.answer;
  if (refused) return tell(refused);
  if (!probe) return tell();
  const isNo = probe.answer === 'no';
  const unset = probe.bits.filter((bit) => !isSet(state.answer.body_hex, bit)).length;
  const why = probe.bits.length === 0 ? '' : isNo ? ` ${unset} of its ${plural(probe.bits.length, 'bit')} ${unset === 1 ? 'is' : 'are'} dark.` : probe.was_added ? '' : ' Other keys lit its bits: a false positive.';
  tell(el('b', {class: probe.answer}, isNo ? 'Certainly not' : 'Maybe'), isNo ? ': it was never inserted.' : probe.was_added ? ': it was inserted.' : ': but it was never inserted.', why);
}

function showFigures() {
  const answer = state.answer;
  showTiles(byId('lab-tiles'), [
    {id: 'keys', label: 'keys', value: answer.keys, text: count(answer.keys), note: `made for ${count(capacity())}`},
    {id: 'bits', label: 'size', value: answer.bits, text: `${count(answer.bits)} bits`, note: `${bytes(answer.bytes)} with its header`},
    {id: 'fill', label: 'fill', value: answer.fill, text: percent(answer.fill), note: `${plural(answer.hashes, 'probe')} per key`},
    {id: 'estimated', label: 'rate, predicted', value: answer.fpr_estimated, text: percent(answer.fpr_estimated), note: `made for ${percent(answer.fpr_designed)}`},
    {id: 'measured', label: 'rate, measured', value: answer.fpr_measured, text: percent(answer.fpr_measured), note: `${count(answer.false_positives)} of ${count(answer.absent_keys)} absent keys`},
  ]);
}

const isSet = (hex, bit) => ((parseInt(hex.substr((bit >> 3) * 2, 2), 16) >> (bit & 7)) & 1) === 1;

function draw() {
  if (!state.answer) return;
  const canvas = byId('lab-grid');
  const hex = state.answer.body_hex;
  const bits = hex.length * 4;
  const columns = bits > 4096 ? 2 * kGrid : bits > 512 ? kGrid : kGrid / 2;
  const rows = Math.max(1, Math.ceil(bits / columns));
  const ratio = window.devicePixelRatio || 1;
  const cell = Math.max(2, Math.floor((canvas.parentElement.clientWidth * ratio) / columns));
  canvas.width = cell * columns;
  canvas.height = cell * rows;
  const pen = canvas.getContext('2d');
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const gap = cell > 4 ? Math.max(1, Math.round(cell / 8)) : 0;
  let set = 0;
  let fresh = 0;
  for (let bit = 0; bit < bits; ++bit) {
    const lit = isSet(hex, bit);
    const isNew = lit && state.before !== null && !isSet(state.before, bit);
    set += lit;
    fresh += isNew;
    pen.fillStyle = colour(isNew ? '--second' : lit ? '--accent' : '--empty');
    pen.fillRect((bit % columns) * cell, Math.floor(bit / columns) * cell, cell - gap, cell - gap);
  }
  const probed = state.answer.probe ? state.answer.probe.bits : [];
  pen.strokeStyle = colour('--ink');
  pen.lineWidth = Math.max(2, cell / 5);
  for (const bit of probed) {
    pen.strokeRect((bit % columns) * cell, Math.floor(bit / columns) * cell, cell - gap, cell - gap);
  }
  canvas.dataset.set = set;
  canvas.dataset.fresh = fresh;
  canvas.setAttribute('aria-label', `The first ${count(bits)} bits of the filter: ${count(set)} are set, ${count(fresh)} since the step before.`);
  const shown = bits < state.answer.bits ? ` (the first ${count(bits)} of ${count(state.answer.bits)})` : '';
  byId('lab-legend').replaceChildren(
      el('span', {}, el('i', {class: 'i-set'}), `${count(set)} set${shown}`),
      el('span', {}, el('i', {class: 'i-new'}), `${count(fresh)} of them new`),
      el('span', {}, el('i', {class: 'i-unset'}), 'not set'),
      ...(probed.length ? [el('span', {}, el('i', {class: 'i-probe'}), 'of the key probed')] : []));
}
