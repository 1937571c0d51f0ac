// Rules that were broken, and situations that no request met.

const bar = (label, met, all) => [el('div', { class: 'measure' }, el('h3', {}, label), el('span', { class: 'quiet small number' }, `${met} of ${all}`)),
  el('progress', { value: String(met), max: String(all), 'aria-label': `${label}: ${met} of ${all} met` })];

const linksTo = (ids) => ids.map((id) => [link(id.startsWith('evt_') ? 'deliveries' : 'requests', id, describeId(id)), ' ']);
/** What a request or an event was, if the page knows it. */
function describeId(id) {
  const request = state.requests.get(id);
  return request ? `${request.method} ${request.path} (${request.status})` : state.deliveries.get(id)?.type ?? id;
}

function reportView() {
  const box = el('div', { class: 'stack' });
  let report;
  let owner;
  const situation = (it) => el('li', {}, el('strong', {}, it.title), el('p', { class: 'quiet small' }, it.remark ?? it.why),
    it.met ? el('p', { class: 'small' }, linksTo(it.requests)) : el('p', { class: 'mono small' }, it.how));
  const group = ([section, list]) => {
    const met = list.filter((it) => it.met);
    const unmet = list.filter((it) => !it.met);
    const part = (title, some) => some.length > 0 && el('details', {}, el('summary', {}, `${title} (${some.length})`),
      el('ul', { class: 'rows' }, some.map(situation)));
    return el('section', { class: 'card pad' }, bar(section, met.length, list.length), part('Never met', unmet), part('Met', met));
  };
  const draw = () => {
    const { findings, situations } = report;
    const search = filter.search.toLowerCase();
    const matches = (it) => !search || [it.title, it.why, it.section, it.how, it.code].join(' ').toLowerCase().includes(search);
    const met = situations.filter((it) => it.met).length;
    const groups = Map.groupBy(situations.filter(matches), (it) => it.section.split(',')[0]);
    box.replaceChildren(
      el('section', { class: 'card pad' }, bar(`${count(findings.length, 'finding')}; ${met} of ${situations.length} situations met`, met, situations.length)),
      ...findings.filter(matches).map((it) => el('section', { class: 'card pad finding stack' }, el('h3', {}, it.title), el('p', {}, it.why),
        el('p', { class: 'quiet small' }, `Specification: ${it.section}`), el('p', {}, linksTo(it.requests)))),
      el('div', { class: 'grid' }, [...groups].map(group)));
  };
  const read = act(() => call('GET', scoped('/sandbox/report')).then((it) => { report = it; draw(); }));
  return {
    node: [heading('Report', 'Rules that your client or handler broke, and situations that your tests missed.', button('Read again', read, { class: 'main' })), box],
    update() {
      const wanted = `${filter.organization}\n${filter.search}\n${state.isLoaded}`;
      if (wanted === owner) return;
      const isOther = owner?.split('\n')[0] !== filter.organization;
      owner = wanted;
      if (isOther || !report) read();
      else draw();
    },
  };
}

