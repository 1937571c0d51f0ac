// Rules that were broken, and situations that no request met.

function reportView() {
  const box = el('div', {});
  const owner = organizationSelect(() => read());
  const shown = (ids) => ids.map((id) => link(id.startsWith('evt_') ? 'deliveries' : 'requests', id));
  const draw = ({ findings, situations }) => {
    const unmet = situations.filter((it) => !it.met);
    box.replaceChildren(
      el('p', {}, `${count(findings.length, 'finding')}; ${situations.length - unmet.length} of ${situations.length} situations met`),
      ...findings.map((it) => el('div', { class: 'box' }, el('h3', {}, it.title), el('p', {}, `${it.why} (${it.section})`), el('p', {}, shown(it.requests).flatMap((it) => [it, ' '])))),
      ...situations.filter((it) => it.remark).map((it) => el('p', {}, el('b', {}, it.title), `: ${it.remark}`)),
      el('h3', {}, 'Never met'),
      el('ul', {}, unmet.map((it) => el('li', {}, el('b', {}, it.title), ` ${it.why} `, el('span', { class: 'quiet' }, it.how)))));
  };
  const read = act(() => call('GET', `/sandbox/report${owner.select.value ? `?organization=${encodeURIComponent(owner.select.value)}` : ''}`).then(draw));
  read();
  return {
    node: [el('h2', {}, 'Report'), el('p', {}, 'Rules that your client or handler broke, and situations that your tests missed.'),
      el('div', { class: 'row' }, el('label', {}, 'Organization', owner.select), button('Read again', read, { class: 'main' })), box],
    update: owner.update,
  };
}

