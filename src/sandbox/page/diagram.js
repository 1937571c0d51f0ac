// The states of a booking as the specification has them, drawn: the path that one took, and what may follow.

/** Where each state stands, as (column, row) of a drawing that is read from left to right. */
const places = {
  start: [0, 1], requires_action: [1, 0.5], processing: [1, 1.5], expired: [2, 0], confirmed: [2, 1], failed: [2, 2], cancelled: [3, 1],
};
/** From, to, the sides that the arrow joins, how far from their middles, and the sides in a narrow drawing. */
const arrows = [
  ['start', 'requires_action', 'rl'], ['start', 'processing', 'rl'], ['start', 'confirmed', 'rl'], ['start', 'failed', 'bl', 0, 12],
  ['requires_action', 'expired', 'rl', -10], ['requires_action', 'confirmed', 'rl', 0, -12], ['requires_action', 'failed', 'rl', 10, -12],
  ['processing', 'confirmed', 'rl', -6, 12], ['processing', 'failed', 'rl', 6], ['confirmed', 'cancelled', 'rl'], ['confirmed', 'failed', 'bt', 0, 0, 'bb'],
  ['requires_action', 'requires_action', 'tt'], ['confirmed', 'confirmed', 'tt'],
];
const directions = { r: [1, 0], l: [-1, 0], t: [0, -1], b: [0, 1] };
/** A narrow drawing is read from top to bottom: its sides are these. */
const turned = { r: 'b', l: 't', t: 'l', b: 'r' };

/** The places in pixels of a drawing as wide as this. */
function layOut(width, extra) {
  const isNarrow = width < 640;
  const [nodeWidth, nodeHeight] = isNarrow ? [Math.min(112, (width - 16) / 3), 46] : [132, 50];
  const across = isNarrow ? [nodeWidth / 2 + 2, width / 2, width - nodeWidth / 2 - 2] : [70, 190, 310];
  const half = nodeWidth / 2;
  const first = width > 680 ? 84 : 60;
  const rest = width - 3 * nodeWidth - first - 6;
  const along = isNarrow ? [14, 104, 316, 446] : [12, first + half, first + half + nodeWidth + rest * 0.62, width - half - 6];
  const between = (list, at) => list[Math.floor(at)] + (list[Math.ceil(at)] - list[Math.floor(at)]) * (at % 1);
  const nodes = {};
  const every = { ...places, ...Object.fromEntries(extra.map((it, index) => [it, [3, index === 0 ? 2 : 0]])) };
  for (const [name, [column, row]] of Object.entries(every)) {
    const [x, y] = [between(along, column), between(across, row)];
    const size = name === 'start' ? 6 : half;
    nodes[name] = { x: isNarrow ? y : x, y: isNarrow ? x : y, half: size, tall: name === 'start' ? 6 : nodeHeight / 2 };
  }
  return { isNarrow, nodes, width, height: isNarrow ? 480 : 348 };
}

/** A curve between two sides, its arrowhead, and the place on it where its buttons stand. */
function curve({ nodes, isNarrow }, [from, to, sides, before = 0, after = 0, narrow = [...sides].map((it) => turned[it])]) {
  const isLoop = from === to;
  const node = nodes[from];
  // In a narrow drawing the tops and bottoms have other arrows in their middle: a loop is at the corner.
  const loop = isNarrow && from === 'confirmed' ? 'b' : 't';
  const corner = isNarrow ? 20 - node.half : 0;
  const side = (at) => (isLoop ? loop : isNarrow ? narrow[at] : sides[at]);
  const end = (name, which, offset) => {
    const { x, y, half, tall } = nodes[name];
    const [dx, dy] = directions[which];
    return [x + dx * half + (dx ? 0 : offset), y + dy * tall + (dy ? 0 : offset)];
  };
  const p0 = end(from, side(0), isLoop ? corner - 13 : narrow === 'bb' && isNarrow ? 30 * Math.sign(nodes[to].x - node.x) : before);
  const p3 = end(to, side(1), isLoop ? corner + 13 : after);
  const [d0, d3] = [directions[side(0)], directions[side(1)]];
  const far = isLoop || narrow === 'bb' && isNarrow ? 30 : Math.max(26, Math.hypot(p3[0] - p0[0], p3[1] - p0[1]) * 0.45);
  const tip = [p3[0] + d3[0] * 2, p3[1] + d3[1] * 2];
  const neck = [tip[0] + d3[0] * 8, tip[1] + d3[1] * 8];
  const p1 = [p0[0] + d0[0] * far, p0[1] + d0[1] * far];
  const p2 = [neck[0] + d3[0] * far, neck[1] + d3[1] * far];
  const wing = (by) => [neck[0] + d3[1] * by, neck[1] + d3[0] * by];
  const on = (at) => [0, 1].map((axis) => (1 - at) ** 3 * p0[axis] + 3 * at * (1 - at) ** 2 * p1[axis] + 3 * at ** 2 * (1 - at) * p2[axis] + at ** 3 * neck[axis]);
  const [x, y] = on(isLoop || from === 'confirmed' ? 0.5 : to === 'confirmed' ? 0.45 : isNarrow ? 0.72 : 0.6);
  return { line: `M${p0}C${p1} ${p2} ${neck}`, head: `M${tip}L${wing(4)}L${wing(-4)}Z`, middle: isLoop ? [x + corner * 1.5, y + d3[1] * 12] : [x, y] };
}

/**
 * Draws into an element as wide as it is. `path` is `[{ state, at }]`, the last one where the booking is; `choices` are
 * `{ to, control }`: what may follow, and the button that brings it.
 */
function drawDiagram(box, path, choices) {
  const here = path.at(-1).state;
  const extra = [...new Set(path.map((it) => it.state))].filter((it) => !Object.hasOwn(places, it)).slice(0, 2);
  const layout = layOut(box.clientWidth, extra);
  const steps = path.map((it, index) => [index === 0 ? 'start' : path[index - 1].state, it.state]);
  const isStep = ([from, to]) => steps.some((it) => it[0] === from && it[1] === to);
  const unusual = steps.filter(([from, to]) => layout.nodes[from] && layout.nodes[to] && !arrows.some((it) => it[0] === from && it[1] === to))
    .map(([from, to]) => {
      const [a, b] = [layout.nodes[from], layout.nodes[to]];
      const level = layout.isNarrow ? 'bb' : b.x > a.x ? 'rl' : 'lr';
      const sides = Math.abs(b.x - a.x) > Math.abs(b.y - a.y) ? level : b.y > a.y ? 'bt' : 'tb';
      return [from, to, sides, 8, 8, sides];
    });
  const drawn = [...arrows, ...unusual].map((it) => ({ arrow: it, ...curve(layout, it) }));
  const isChoice = ([from, to]) => from === here && choices.some((it) => it.to === to);
  const lines = drawn.filter(({ arrow }) => arrow[0] !== arrow[1] || isStep(arrow) || isChoice(arrow)).map(({ arrow, line, head }) => {
    const rank = isStep(arrow) ? 2 : Number(isChoice(arrow));
    return [rank, svg('g', { class: ['', 'may', 'taken'][rank] }, svg('path', { d: line }), svg('path', { d: head, class: 'head-of' }))];
  }).sort((a, b) => a[0] - b[0]).map(([, it]) => it);
  const shapes = Object.entries(layout.nodes).map(([name, { x, y, half, tall }]) => {
    if (name === 'start') return svg('circle', { cx: x, cy: y, r: 6, class: 'begin' });
    const at = path.findLast((it) => it.state === name)?.at;
    const isHere = name === here;
    const frame = { x: x - half, y: y - tall, width: 2 * half, height: 2 * tall, rx: 12 };
    const kind = isHere ? `here ${tones[name] ?? 'busy'}` : at ? 'passed' : '';
    return svg('g', { 'data-state': name, class: kind, 'aria-current': isHere && 'step' }, isHere && svg('rect', { ...frame, class: 'halo' }), svg('rect', frame),
      svg('text', { x, y: at ? y - 3 : y + 4 }, spaced(name).slice(0, 20)), at && svg('text', { x, y: y + 14, class: 'at' }, timeText(at)));
  });
  const groups = Map.groupBy(choices, (it) => it.to);
  const controls = [...groups].map(([to, group]) => {
    const place = drawn.find(({ arrow }) => arrow[0] === here && arrow[1] === to);
    const node = el('div', { class: 'choices' }, group.map((it) => it.control));
    return { node, middle: place?.middle ?? [layout.nodes[here].x, layout.nodes[here].y + 44] };
  });
  const taken = path.map((it) => `${spaced(it.state)} at ${timeText(it.at)}`);
  const next = choices.map((it) => `${it.control.textContent.replace('…', '')} leads to ${spaced(it.to)}`);
  const pathList = el('ol', { class: 'sr', 'aria-label': 'Path of the booking' },
    taken.map((it, index) => el('li', { 'aria-current': index === taken.length - 1 && 'step' }, it)),
    el('li', {}, next.length > 0 ? `What may follow: ${next.join(', ')}.` : 'Nothing follows.'));
  const picture = svg('svg', { viewBox: `0 0 ${layout.width} ${layout.height}`, height: layout.height, class: layout.isNarrow && 'narrow',
    role: 'img', 'aria-label': `State diagram: the booking is ${spaced(here)}` }, lines, shapes);
  const fresh = el('div', { class: 'diagram' }, picture, pathList, controls.map((it) => it.node));
  if (box.firstChild) replaceKeepingFocus(box.firstChild, fresh);
  else box.append(fresh);
  for (const { node, middle: [x, y] } of controls) {
    const half = node.offsetWidth / 2;
    node.style.left = `${Math.min(Math.max(x, half), layout.width - half)}px`;
    node.style.top = `${Math.max(y, node.offsetHeight / 2)}px`;
  }
}

