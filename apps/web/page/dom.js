// Elements, requests and numbers: what every part of the page uses.

const kSvg = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** An element; text among the children is text, never HTML. */
export const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(kSvg, tag), attributes, children);
export const byId = (id) => document.getElementById(id);

/** The answer of the server; an Error with its message otherwise. */
export async function ask(name, parameters = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) query.append(key, one);
  }
  const response = await fetch(`api/${name}?${query}`);
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error || `status ${response.status}`);
  return answer;
}

const kUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
export function bytes(count) {
  let unit = 0;
  while (count >= 1024 && unit + 1 < kUnits.length) {
    count /= 1024;
    ++unit;
  }
  return `${unit === 0 ? Math.round(count) : count.toPrecision(count < 10 ? 3 : count < 100 ? 3 : 4).replace(/\.0+$/, '')} ${kUnits[unit]}`;
}
export const count = (number) => Math.round(number).toLocaleString('en-US');
/** Short, for rates and charts: 12.3 K. */
export function short(number) {
  const units = ['', ' K', ' M', ' G', ' T'];
  let unit = 0;
  while (number >= 1000 && unit + 1 < units.length) {
    number /= 1000;
    ++unit;
  }
  const text = number === 0 || number >= 100 ? Math.round(number) : number >= 1 ? number.toFixed(1) : number.toPrecision(2);
  return `${text}${units[unit]}`;
}
export function percent(share) {
  if (share === 0) return '0 %';
  const hundredths = 100 * share;
  if (hundredths >= 99.95) return '100 %';
  return `${hundredths >= 10 ? hundredths.toFixed(1) : hundredths >= 0.01 ? hundredths.toPrecision(3) : hundredths >= 1e-4 ? Number(hundredths.toPrecision(2)) : hundredths.toExponential(1)} %`;
}
/** Reads per lookup and the like. */
export const small = (number) => (number === 0 ? '0' : number >= 100 ? count(number) : Number(number.toPrecision(3)).toString());
export function duration(nanoseconds) {
  if (nanoseconds < 1000) return `${Math.round(nanoseconds)} ns`;
  if (nanoseconds < 1e6) return `${(nanoseconds / 1e3).toFixed(1)} µs`;
  if (nanoseconds < 1e9) return `${(nanoseconds / 1e6).toFixed(1)} ms`;
  return `${(nanoseconds / 1e9).toFixed(1)} s`;
}
export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`;

/** A key or value of the server's JSON: text, or hexadecimal where the bytes are not text. */
export function bytesText(object, name) {
  return object[name] !== undefined ? object[name] : object[`${name}_hex`] !== undefined ? `0x${object[`${name}_hex`]}` : '';
}

/** Figures in a <dl>. Each is {id, label, value, text, note}; a test reads the value from data-value. */
export function showTiles(list, figures) {
  for (const figure of figures) {
    let tile = list.querySelector(`[data-id="${figure.id}"]`);
    if (!tile) {
      tile = el('div', {'data-id': figure.id}, el('dt', {}, figure.label), el('dd'));
      list.append(tile);
    }
    const value = tile.querySelector('dd');
    const text = `${figure.text}\n${figure.note || ''}`;
    if (value.dataset.text === text) continue;
    value.dataset.text = text;
    value.dataset.value = figure.value;
    value.replaceChildren(figure.text, ...(figure.note ? [el('small', {}, figure.note)] : []));
  }
}

export function meter(share, kind = '') {
  return el('span', {class: `meter ${kind}`, 'aria-hidden': 'true'}, el('i', {style: {width: `${Math.min(100, 100 * share)}%`}}));
}

/** A table: columns are {label, text?, of(row)}; `of` returns a text or an element. */
export function showTable(table, columns, rows) {
  const cells = (row) => columns.map((column) => {
    const value = column.of(row);
    return el('td', {class: column.text ? 'text' : null, 'data-field': column.field, 'data-value': column.field ? row[column.field] : null}, value);
  });
  table.replaceChildren(
      el('thead', {}, el('tr', {}, columns.map((column) => el('th', {scope: 'col', class: column.text ? 'text' : null}, column.label)))),
      el('tbody', {}, rows.map((row) => el('tr', {}, cells(row)))));
}
