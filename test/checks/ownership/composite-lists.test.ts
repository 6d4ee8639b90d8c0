// Composite lists: one file that names the images of many packages, owned entry by entry. Every attack is a real
// pull request in a real repository: an owner of one entry tries to reach another's.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { changeAsText, describeChangeLines } from '../../../src/messages/describe-change.ts'
import type { Files } from '../../git/origin.ts'
import { catalogFile } from './blobs.ts'
import { openWorld, type Judged, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld('lists')
  for (const login of ['alice', 'vera', 'maria', 'mallory', 'nina']) world.people.person(login)
})
afterAll(() => world.close())

const digest = (digit: string) => `quay.io/test/list@sha256:${digit.repeat(64)}`
const entry = (name: string, digit: string) => `  - name: ${name}\n    image: ${digest(digit)}\n`
const listOf = (...entries: string[]) => `name: community\nreferences:\n${entries.join('')}`
const path = 'catalog-template.yaml'
const mine = entry('mine', '1')
const victim = entry('victim', '2')
const today = listOf(mine, victim)

/** Alice owns `mine`, Vera owns `victim`, Maria looks after the repository. */
const base: Files = {
  'config.yaml': 'maintainers:\n  - maria\n',
  'operators/mine/ci.yaml': 'reviewers:\n  - alice\n',
  'operators/victim/ci.yaml': 'reviewers:\n  - vera\n',
  'catalog/mine/index.yaml': catalogFile('mine', ['1.0.0']),
  'catalog/victim/index.yaml': catalogFile('victim', ['1.0.0']),
  [path]: today,
}
const pull = (list: string, author = 'alice', from = today, more: Files = {}) =>
  world.pull({ ...base, [path]: from }, { ...base, ...more, [path]: list }, { author })
const said = ({ outcome }: Judged) => outcome.findings.map(({ rule, data }) => [rule, data?.['package']])
const role = ({ input }: Judged) => input.change.paths.map((touched) => touched.role.kind)

describe('an owner', () => {
  test('updates the reference of their own package alone', async () => {
    const judged = await pull(listOf(entry('mine', '3'), victim))
    expect(judged.outcome.findings).toEqual([])
    expect(judged.verdict.kind).toBe('merge')
    expect(role(judged)).toEqual(['references'])
    expect(judged.input.change.references).toMatchObject([
      { reference: digest('3'), at: { file: path, line: 4, column: 12 }, package: 'mine', role: 'listed' },
    ])
    expect(changeAsText(describeChangeLines(judged.input.change))).toEqual([
      `list of references ${path}:`,
      `  reference mine: ${digest('1')} → ${digest('3')}`,
    ])
  })

  test('does so in every place and style that a list has', async () => {
    for (const [file, from, to] of [
      ['catalog.yaml', today, listOf(entry('mine', '3'), victim)],
      ['deploy/catalogs.yml', today, listOf(entry('mine', '3'), victim)],
      [
        path,
        `# who: 目录\n${today}# end\n`.replace('name: mine', '"name": "mine"'),
        `# who: 目录\n${today}# end\n`
          .replace('name: mine', '"name": "mine"')
          .replace(digest('1'), digest('3')),
      ],
      [
        path,
        today.replace('  - name: mine', '  # renovate: mine\n  - name: mine'),
        listOf(`  # renovate: mine 2\n${entry('mine', '3')}`, victim),
      ],
    ] as const) {
      const { [path]: _, ...rest } = base
      const judged = await world.pull({ ...rest, [file]: from }, { ...rest, [file]: to }, { author: 'alice' })
      expect([file, judged.verdict.kind, said(judged)]).toEqual([file, 'merge', []])
    }
  })

  test('of another reference is asked for theirs, and only for theirs', async () => {
    const judged = await pull(listOf(entry('mine', '3'), entry('victim', '4')))
    expect(said(judged)).toEqual([['not-owner', 'victim']])
    expect(judged.outcome.findings[0]?.at).toEqual({ file: path, line: 5, column: 11 })
    expect(judged.outcome.waiting).toEqual([{ what: 'an owner of victim must approve', who: ['vera'] }])
  })

  test('with the other owner’s approval lands both in one file', async () => {
    const from = world.origin.commit(base)
    const head = world.origin.commit({ ...base, [path]: listOf(entry('mine', '3'), entry('victim', '4')) }, [
      from,
    ])
    const judge = (login: string) =>
      world.judge(from, head, { author: 'alice', reviews: [world.review(login, head)] })
    expect((await judge('vera')).verdict.kind).toBe('merge')
    expect((await judge('mallory')).verdict.kind).toBe('wait')
  })

  test('needs a maintainer to add or remove a reference, their own too', async () => {
    expect(said(await pull(listOf(mine, victim, entry('other', '5'))))).toEqual([['new-package', 'other']])
    expect(said(await pull(listOf(victim)))).toEqual([['consent-missing', 'mine']])
    expect((await pull(listOf(mine, victim, entry('other', '5')), 'maria')).verdict.kind).toBe('merge')
    expect((await pull(listOf(victim), 'maria')).verdict.kind).toBe('merge')
  })
})

describe('a list as the configuration has it', () => {
  test('gives removing to owners where the table says so, and leaves adding with maintainers', async () => {
    const config = {
      '.github/catalog-bot.yml':
        'permissions:\n  owner:\n    remove-package: alone\n    update-reference: owner\n',
    }
    const judge = (list: string) =>
      world.pull({ ...base, ...config }, { ...base, ...config, [path]: list }, { author: 'alice' })
    expect((await judge(listOf(victim))).verdict.kind).toBe('merge')
    expect((await judge(listOf(mine))).verdict.kind).toBe('wait')
    expect(said(await judge(listOf(entry('mine', '3'), victim)))).toEqual([['consent-missing', 'mine']])
    expect((await judge(listOf(mine, victim, entry('other', '5')))).verdict.kind).toBe('wait')
  })

  test('a reference without a package is owned by whom the map names', async () => {
    const config = { '.github/catalog-bot.yml': 'owners:\n  packages:\n    lonely: [nina]\n' }
    const from = listOf(mine, victim, entry('lonely', '6'))
    const judge = (author: string) =>
      world.pull(
        { ...base, ...config, [path]: from },
        { ...base, ...config, [path]: from.replace(digest('6'), digest('7')) },
        { author },
      )
    expect((await judge('nina')).verdict.kind).toBe('merge')
    expect((await judge('alice')).verdict.kind).toBe('wait')
    const orphan = listOf(mine, victim, entry('orphan', '6'))
    const changed = await pull(orphan.replace(digest('6'), digest('7')), 'alice', orphan)
    expect(changed.verdict.kind).toBe('wait')
    expect(changed.outcome.waiting).toMatchObject([{ who: ['maria'] }])
  })
})

describe('a package whose directory has another name', () => {
  test('is owned by the owners of its directory, when the catalog is at hand', async () => {
    const alias: Files = {
      ...base,
      'operators/alias-operator/ci.yaml': 'reviewers:\n  - nina\n',
      'catalog/alias-operator/index.yaml': catalogFile('alias', ['1.0.0']),
      [path]: listOf(mine, victim, entry('alias', '6')),
    }
    const head: Files = {
      ...alias,
      'catalog/mine/index.yaml': catalogFile('mine', ['1.0.0', '1.1.0']),
      [path]: listOf(mine, victim, entry('alias', '7')),
    }
    const judged = await world.pull(alias, head, { author: 'alice' })
    expect(judged.outcome.findings).toMatchObject([
      { rule: 'not-owner', data: { package: 'alias', owners: ['nina'] } },
    ])
  })
})

describe('T11: an owner of one entry', () => {
  const refused = async (list: string, from = today) => {
    const judged = await pull(list, 'alice', from)
    expect(judged.verdict.kind).not.toBe('merge')
    return judged
  }

  test.each([
    ['takes the other’s name for their own image', listOf(entry('victim', '1'), entry('mine', '2'))],
    ['swaps the images of the two', listOf(entry('mine', '2'), entry('victim', '1'))],
    ['renames their own entry to the other’s name', listOf(entry('victim', '1'), victim)],
    ['drops the other’s entry', listOf(entry('mine', '3'))],
    ['adds a second entry of the other’s name', listOf(entry('mine', '3'), victim, entry('victim', '4'))],
    ['adds it in other letters', listOf(entry('mine', '3'), victim, entry('Victim', '4'))],
    ['moves the entries around', listOf(victim, entry('mine', '3'))],
    ['comments the other’s image out', listOf(entry('mine', '3'), victim.replace('    image', '    #image'))],
    ['comments the other’s entry out', listOf(entry('mine', '3'), victim.replaceAll(/^/gm, '#'))],
    ['changes how the other’s name is written', listOf(mine, victim.replace('victim', '"victim"'))],
    ['adds a field to the other’s entry', listOf(mine, `${victim}    channel: evil\n`)],
    ['adds a field beside the list', `${today}extra: yes\n`],
    ['changes the name of the list', today.replace('community', 'evil')],
    ['makes the list something else', today.replace('references:', 'References:')],
  ])('%s, and waits', async (_, list) => {
    await refused(list)
  })

  test.each([
    ['an anchor and a merge key', listOf(mine.replace('- name', '- &a\n    name'), `${victim}    <<: *a\n`)],
    [
      'an alias for the other’s image',
      listOf(mine.replace('image: ', 'image: &i '), `  - name: victim\n    image: *i\n`),
    ],
    ['an anchor alone', listOf(mine.replace('image: ', 'image: &i '), victim)],
    ['a second image in their own entry', listOf(`${mine}    image: ${digest('4')}\n`, victim)],
    ['a second image in other letters', listOf(`${mine}    Image: ${digest('4')}\n`, victim)],
    ['a second name in other letters', listOf(`${mine}    NAME: victim\n`, victim)],
    ['a second list', `${today}references:\n${entry('victim', '4')}`],
    ['a second list in other letters', `${today}REFERENCES:\n${entry('victim', '4')}`],
    ['a second document', `${today}---\n${listOf(entry('victim', '4'))}`],
    ['a tag', listOf(mine.replace('image: ', 'image: !!str '), victim)],
    ['the tag that says nothing', listOf(mine.replace('image: ', 'image: ! '), victim)],
    ['a name in hexadecimal', listOf(mine, victim, entry('0x10', '4'))],
    ['an escape in a name', listOf(mine, victim, entry('"v\\x69ctim"', '4'))],
    [
      'a line that ends for some readers only',
      listOf(entry('mine', '3').replace(/\n$/, ` # \u2028  - name: victim\n`), victim),
    ],
    [
      'a line that ends at a next-line character',
      listOf(entry('mine', '3').replace(/\n$/, ` # \u0085  - name: victim\n`), victim),
    ],
    ['a carriage return alone', listOf(entry('mine', '3').replace(/\n$/, ` # \r  - name: victim\n`), victim)],
    ['letters that turn the line around', listOf(entry('mine', '3').replace(/\n$/, ` # \u202e\n`), victim)],
    ['a text over several lines', listOf(`${mine}    note: "one\n      two"\n`, victim)],
    ['a block of text', listOf(`${mine}    note: |\n      - name: victim\n`, victim)],
    [
      'entries in one line',
      `name: community\nreferences: [{name: mine, image: a}, {name: victim, image: b}]\n`,
    ],
    ['an entry in braces', listOf(`  - {name: mine, image: "${digest('3')}"}\n`, victim)],
    [
      'an entry within an entry',
      listOf(`${mine}    more:\n      - name: victim\n        image: x\n`, victim),
    ],
    ['no list at all', 'name: community\nreferences: []\n'],
    ['something that is not YAML', 'references: [\n'],
  ])('hides a change behind %s: the file is the repository’s own then', async (_, list) => {
    const judged = await refused(list)
    expect(role(judged)).toEqual(['infrastructure'])
    expect(judged.rules).toEqual(['outside-packages'])
    expect((await pull(list, 'maria')).verdict.kind).not.toBe('merge')
  })

  test('is not helped by a base that was hidden in the same way', async () => {
    const from = listOf(mine.replace('image: ', 'image: &i '), `  - name: victim\n    image: *i\n`)
    expect(role(await refused(from.replace(digest('1'), digest('3')), from))).toEqual(['infrastructure'])
  })

  test('cannot make the list a link or a program, nor bring a list of their own', async () => {
    const mode = (list: Files[string]) => world.pull(base, { ...base, [path]: list }, { author: 'alice' })
    expect((await mode({ mode: '120000', content: 'operators/mine/ci.yaml' })).verdict.kind).not.toBe('merge')
    const program = { mode: '100755', content: listOf(entry('mine', '3'), victim) } as const
    expect((await mode(program)).verdict.kind).not.toBe('merge')
    const own = await pull(today, 'alice', today, { 'catalogs.yaml': listOf(entry('mine', '3')) })
    expect(role(own)).toEqual(['infrastructure'])
    const hidden = { '.github/catalog.yaml': today }
    const judged = await world.pull(
      { ...base, ...hidden },
      { ...base, '.github/catalog.yaml': listOf(entry('mine', '3'), victim) },
      { author: 'alice' },
    )
    expect(role(judged)).toEqual(['infrastructure'])
  })

  test('does not add a name that looks like another entry', async () => {
    const from = listOf(mine, victim, entry('illusion', '6'))
    const judged = await pull(from + entry('il1usion', '7'), 'maria', from)
    expect(judged.rules).toContain('confusable-name')
  })
})

describe('a yes that is carried over', () => {
  test('covers the whole list: another entry of the same file that changed since voids it', async () => {
    const config = { '.github/catalog-bot.yml': 'approvals:\n  carryOver: true\n' }
    const from = world.origin.commit({ ...base, ...config })
    const next = (list: string) => world.origin.commit({ ...base, ...config, [path]: list }, [from])
    const first = next(listOf(mine, entry('victim', '4')))
    const options = { author: 'alice', configDigest: 'd' }
    const { coverage } = await import('../../../src/checks/ownership/ownership.ts')
    const seen = await world.judge(from, first, options)
    const vera = world.people.person('vera')
    const yes = {
      user: vera.id,
      login: 'vera',
      head: first,
      baseRef: 'main',
      epoch: 0,
      source: 'command' as const,
      sourceId: 1,
      config: 'd',
      covers: coverage(seen.input),
    }
    const judge = (list: string) => world.judge(from, next(list), { ...options, epoch: 1, approvals: [yes] })
    expect((await judge(listOf(mine, entry('victim', '4')))).verdict.kind).toBe('merge')
    expect((await judge(listOf(mine, entry('victim', '5')))).verdict.kind).toBe('wait')
    expect((await judge(listOf(entry('mine', '3'), entry('victim', '4')))).verdict.kind).toBe('wait')
  })
})
