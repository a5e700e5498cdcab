// Charts in SVG.
import {el, svg} from './dom.js';

/** Values over time as an area; the right edge is now. `second` is a dashed line on the same scale. */
export function areaChart(values, second, room) {
  const width = 300;
  const height = 60;
  const most = Math.max(1e-9, ...values, ...(second || []));
  const points = (list) => list.map((value, i) => `${(width * (room - list.length + i)) / (room - 1)},${height - (height - 2) * (value / most)}`);
  const chart = svg('svg', {viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true'},
                    svg('line', {class: 'grid', x1: 0, x2: width, y1: height, y2: height}));
  if (values.length > 1) {
    const line = points(values);
    const begin = line[0].split(',')[0];
    chart.append(svg('polygon', {class: 'area', points: `${begin},${height} ${line.join(' ')} ${width},${height}`}),
                 svg('polyline', {class: 'line', points: line.join(' ')}));
    if (second) chart.append(svg('polyline', {class: 'line second', points: points(second).join(' ')}));
  }
  return chart;
}

/** Two curves over x, with a logarithmic y axis and a mark at `at`. */
export function curveChart({x, first, second, at, xLabel, labels, xText}) {
  const width = 520;
  const height = 240;
  const left = 52;
  const bottom = height - 30;
  const top = 12;
  const positive = [...first, ...second].filter((value) => value > 0);
  const low = Math.floor(Math.log10(Math.max(1e-6, Math.min(...positive, 1))));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...positive, 1e-6))));
  const xOf = (value) => left + ((width - left - 10) * value) / x[x.length - 1];
  const yOf = (value) => bottom - ((bottom - top) * (Math.log10(Math.max(value, 10 ** low)) - low)) / (high - low);
  const line = (values, kind) => svg('polyline', {class: `line ${kind}`, points: values.map((value, i) => `${xOf(x[i])},${yOf(value)}`).join(' ')});
  const chart = svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': xText});
  for (let power = low; power <= high; ++power) {
    const y = yOf(10 ** power);
    chart.append(svg('line', {class: 'grid', x1: left, x2: width - 10, y1: y, y2: y}),
                 svg('text', {x: left - 6, y: y + 4, 'text-anchor': 'end'}, power < -3 ? `1e${power}` : String(Number((10 ** power).toPrecision(1)))));
  }
  for (let value = 0; value <= x[x.length - 1]; value += 4) {
    chart.append(svg('text', {x: xOf(value), y: bottom + 15, 'text-anchor': 'middle'}, String(value)));
  }
  chart.append(svg('text', {x: width - 10, y: height - 2, 'text-anchor': 'end'}, xLabel), line(second, 'second'), line(first, ''));
  if (at) {
    chart.append(svg('line', {class: 'mark', x1: xOf(at.x), x2: xOf(at.x), y1: top, y2: bottom}),
                 svg('circle', {class: 'second', cx: xOf(at.x), cy: yOf(at.second), r: 4}),
                 svg('circle', {cx: xOf(at.x), cy: yOf(at.first), r: 4}));
  }
  const legend = el('p', {class: 'legend'}, el('span', {}, el('span', {class: 'key'}), labels[0]), el('span', {}, el('span', {class: 'key second'}), labels[1]));
  return [chart, legend];
}
