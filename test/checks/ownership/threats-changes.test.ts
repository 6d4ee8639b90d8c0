// What an attacker can change, and how they hide it: threats T01 to T18. Every attack is made in a real repository.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { longFile } from '../../git/origin.ts'
import type { Files } from '../../git/origin.ts'
import { catalogFile } from './blobs.ts'
import { openWorld, type Judged, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld('changes')
  for (const login of ['alice', 'alan', 'vera', 'maria', 'mallory', 'nina']) world.people.person(login)
})
afterAll(() => world.close())

const reviewers = (...logins: string[]) => `reviewers:\n${logins.map((login) => `  - ${login}\n`).join('')}`
const ciOf = (name: string) => `operators/${name}/ci.yaml`
const catalogOf = (name: string, version = 'v4.20') => `catalogs/${version}/${name}/catalog.yaml`

/** Alice and Alan own `mine`, Vera owns `victim`, Maria looks after the repository. */
const base: Files = {
  'config.yaml': 'maintainers:\n  - maria\n',
  [ciOf('victim')]: reviewers('vera'),
  [ciOf('mine')]: reviewers('alice', 'alan'),
  [catalogOf('victim')]: catalogFile('victim', ['1.0.0', '1.1.0']),
  [catalogOf('mine')]: catalogFile('mine', ['1.0.0']),
}
const without = (files: Files, ...paths: string[]): Files =>
  Object.fromEntries(Object.entries(files).filter(([path]) => !paths.includes(path)))
const update = { [catalogOf('mine')]: catalogFile('mine', ['1.0.0', '1.1.0']) }
const updated: Files = { ...base, ...update }
const byAlice = { author: 'alice' }
const packagesIn = ({ outcome }: Judged) =>
  [...new Set(outcome.findings.map(({ data }) => data?.['package']))].sort()

describe('an owner', () => {
  test('adds a bundle to their own package alone', async () => {
    const { verdict, outcome } = await world.pull(base, updated, byAlice)
    expect(outcome.findings).toEqual([])
    expect(verdict.kind).toBe('merge')
  })
  test('is asked about once: their login, and nothing else', async () => {
    const { asked } = await world.pull(base, updated, byAlice)
    expect(asked).toEqual([{ kind: 'user', login: 'alice' }])
  })
  test('is told once of a file that several directories of its package have a say in', async () => {
    const [pkg = '', ...others] = catalogFile('mine', ['1.0.0']).split(/^(?=---\n)/m)
    const split: Files = {
      'config.yaml': 'maintainers:\n  - maria\n',
      'catalog-4-20/package.yaml': pkg,
      ...Object.fromEntries(others.map((blob, at) => [`catalog-4-20/channels/${at}.yaml`, blob])),
      'catalog-4-20/bundles/note.yaml': 'schema: note\npackage: mine\n',
    }
    const { outcome } = await world.pull(
      split,
      { ...split, 'catalog-4-20/bundles/note.yaml': 'schema: note\npackage: mine\nname: x\n' },
      { author: 'mallory' },
    )
    expect(outcome.findings.map(({ rule, at }) => [rule, at?.file])).toEqual([
      ['not-owner', 'catalog-4-20/bundles/note.yaml'],
    ])
  })
  test('needs a maintainer to edit, remove or strand what others may have installed', async () => {
    const two = { ...base, [catalogOf('mine')]: catalogFile('mine', ['1.0.0', '1.1.0']) }
    const edited = catalogFile('mine', ['1.0.0', '1.1.0']).replace('1.0.0@', '1.0.0-evil@')
    for (const [file, kind] of [
      [
        catalogFile('mine', ['1.0.0', '1.1.0'], {
          bundle: 'relatedImages: [{ name: x, image: quay.io/x/y:1 }]\n',
        }),
        'edit-bundle',
      ],
      [catalogFile('mine', ['1.0.0']), 'remove-bundle'],
      [catalogFile('mine', ['1.0.0', '1.1.0']).replace('name: stable', 'name: other'), 'remove-channel'],
    ] as const) {
      const { verdict, rules, outcome } = await world.pull(
        two,
        { ...two, [catalogOf('mine')]: file },
        byAlice,
      )
      expect(verdict.kind).toBe('wait')
      expect(rules).toEqual(['consent-missing'])
      expect(outcome.findings[0]?.data).toMatchObject({ by: 'maintainer' })
      expect(outcome.findings.flatMap(({ data }) => data?.['kinds'])).toContain(kind)
      expect(outcome.waiting).toMatchObject([{ who: ['maria'] }])
    }
    expect(edited).toBeDefined()
  })
  test('adds their package to one more catalog alone', async () => {
    const more = { ...base, [catalogOf('victim', 'v4.21')]: catalogFile('victim', ['1.0.0']) }
    const { verdict } = await world.pull(
      more,
      { ...more, [catalogOf('mine', 'v4.21')]: catalogFile('mine', ['1.0.0']) },
      byAlice,
    )
    expect(verdict.kind).toBe('merge')
  })
})

describe('a new catalog', () => {
  test('is a maintainer’s decision, also when an owner only adds their own package to it', async () => {
    const head = { ...base, [catalogOf('mine', 'v4.21')]: catalogFile('mine', ['1.0.0']) }
    const { verdict, outcome } = await world.pull(base, head, byAlice)
    expect(verdict.kind).toBe('wait')
    expect(outcome.findings[0]?.data).toMatchObject({ by: 'maintainer', kinds: ['add-catalog'] })
    expect((await world.pull(base, head, { author: 'maria' })).verdict.kind).toBe('merge')
  })
})

describe('a stranger', () => {
  test('waits for an owner, and is told which', async () => {
    const { verdict, outcome, rules } = await world.pull(base, updated, { author: 'mallory' })
    expect(verdict.kind).toBe('wait')
    expect(rules).toEqual(['not-owner'])
    expect(outcome.findings[0]).toMatchObject({
      at: { file: catalogOf('mine') },
      data: { package: 'mine', owners: ['alice', 'alan'] },
    })
    expect(outcome.waiting).toEqual([{ what: 'an owner of mine must approve', who: ['alice', 'alan'] }])
  })
})

describe('T01: rename theft', () => {
  test("moving the victim's file into one's own directory touches both, and takes the victim's consent", async () => {
    const stolen = { 'operators/victim/csv.yaml': longFile('csv', 60) }
    const judged = await world.pull(
      { ...base, ...stolen },
      { ...base, 'operators/mine/csv.yaml': longFile('csv', 60) },
      byAlice,
    )
    expect(judged.verdict.kind).toBe('wait')
    expect(judged.input.change.paths.map(({ path }) => path)).toEqual([
      'operators/mine/csv.yaml',
      'operators/victim/csv.yaml',
    ])
    expect(judged.outcome.findings).toMatchObject([
      { rule: 'not-owner', data: { path: 'operators/victim/csv.yaml', owners: ['vera'] } },
    ])
  })
})

describe('T02: long lists', () => {
  const own = (from: string, count: number): Files =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`${from}/note-${String(at).padStart(5, '0')}.md`, 'x\n']),
    )
  test.each([30, 31, 100, 101, 250, 251, 2999, 3000, 3001])(
    'a foreign file at position %d is seen',
    async (position) => {
      const first = { ...base, 'operators/kim/ci.yaml': reviewers('vera') }
      const head = {
        ...first,
        ...own('catalogs/v4.20/mine', position - 1),
        'operators/kim/notes.md': 'x\n',
        ...own('operators/mine/notes', 3002 - position),
      }
      const judged = await world.pull(first, head, byAlice)
      expect(judged.input.change.paths[position - 1]?.path).toBe('operators/kim/notes.md')
      expect(judged.verdict.kind).toBe('wait')
      expect(packagesIn(judged)).toEqual(['kim'])
    },
    60_000,
  )
})

describe('T03: content that looks like a diff', () => {
  test.each([
    '--- a/operators/victim/ci.yaml\n+++ b/operators/mine/ci.yaml\n',
    '@@ -1,3 +0,0 @@\n',
    '\\ No newline at end of file\n',
    'rename from operators/victim/x\nrename to operators/mine/x\n',
    'diff --git a/x b/x\ndeleted file mode 100644\n',
    '"a\\tb" => b\n',
  ])('%j in a file hides nothing', async (lines) => {
    const head = { ...updated, 'operators/mine/notes.md': lines, 'operators/victim/notes.md': lines }
    const judged = await world.pull(base, head, byAlice)
    expect(judged.input.change.paths.map(({ path }) => path)).toEqual([
      catalogOf('mine'),
      'operators/mine/notes.md',
      'operators/victim/notes.md',
    ])
    expect(packagesIn(judged)).toEqual(['victim'])
  })
})

describe("T04: owners come from the base branch's tip, whatever the pull request's history is", () => {
  const granted = { ...base, [ciOf('victim')]: reviewers('vera', 'mallory') }
  const attack = { ...base, [catalogOf('victim')]: catalogFile('victim', ['1.0.0', '1.1.0', '6.6.6']) }
  test.each([1, 101, 251])(
    '%d commits that grant and take back',
    async (count) => {
      const root = world.origin.commit(base)
      let head = root
      for (let at = 0; at < count; at += 1)
        head = world.origin.commit({ ...granted, [`operators/victim/${at}.md`]: 'x\n' }, [head])
      head = world.origin.commit(attack, [head])
      const judged = await world.judge(root, head, { author: 'mallory' })
      expect(judged.verdict.kind).toBe('wait')
      expect(judged.outcome.findings[0]?.data).toMatchObject({ owners: ['vera'] })
    },
    60_000,
  )
  test('the base has taken the rights away since the branch was made', async () => {
    const root = world.origin.commit(granted)
    const head = world.origin.commit(
      { ...granted, ...attack, [ciOf('victim')]: reviewers('vera', 'mallory') },
      [root],
    )
    const tip = world.origin.commit(base, [root])
    expect((await world.judge(tip, head, { author: 'mallory' })).verdict.kind).toBe('wait')
  })
  test('a merge that brings its own owners along', async () => {
    const root = world.origin.commit(base)
    const side = world.origin.commit(granted, [root])
    const head = world.origin.commit({ ...attack, [ciOf('victim')]: reviewers('vera', 'mallory') }, [
      root,
      side,
    ])
    const judged = await world.judge(root, head, { author: 'mallory' })
    expect(judged.verdict.kind).toBe('wait')
    expect(judged.rules).toEqual(['not-owner', 'owner-file-change'])
  })
  test('a history of its own', async () => {
    const root = world.origin.commit(base)
    const head = world.origin.commit({ ...granted, ...attack })
    expect((await world.judge(root, head, { author: 'mallory' })).verdict.kind).not.toBe('merge')
  })
})

describe('T05: nobody grants ownership to themselves', () => {
  const ci = (...logins: string[]) => ({ ...base, [ciOf('mine')]: reviewers(...logins) })
  const table: [string, string, Files, string][] = [
    ['a stranger adds themselves', 'mallory', ci('alice', 'alan', 'mallory'), 'wait'],
    [
      'a stranger adds themselves and changes the package',
      'mallory',
      { ...ci('mallory'), ...update },
      'wait',
    ],
    ['an owner adds a friend', 'alice', ci('alice', 'alan', 'nina'), 'wait'],
    ['an owner adds a friend in an update', 'alice', { ...ci('alice', 'alan', 'nina'), ...update }, 'wait'],
    ['an owner removes the last other owner', 'alice', ci('alice'), 'wait'],
    ['an owner steps down', 'alice', ci('alan'), 'merge'],
    ['an owner deletes the list', 'alice', without(base, ciOf('mine')), 'wait'],
    ['an owner reorders the list', 'alice', ci('alan', 'alice'), 'merge'],
    ['an owner writes a login in another case', 'alice', ci('ALICE', 'alan'), 'merge'],
    ['an owner breaks the list', 'alice', { ...base, [ciOf('mine')]: 'reviewers: alice\n' }, 'blocked'],
    ['an owner names an account that does not exist', 'alice', ci('alice', 'alan', 'nobody-yet'), 'blocked'],
    [
      'an owner turns landing off for all',
      'alice',
      { ...base, [ciOf('mine')]: `merge: false\n${reviewers('alice', 'alan')}` },
      'wait',
    ],
    [
      'an owner takes a partner project',
      'alice',
      { ...base, [ciOf('mine')]: `cert_project_id: 1\n${reviewers('alice', 'alan')}` },
      'wait',
    ],
    [
      'an owner changes another setting',
      'alice',
      { ...base, [ciOf('mine')]: `updateGraph: semver-mode\n${reviewers('alice', 'alan')}` },
      'merge',
    ],
    [
      'an owner gives their list to a new file',
      'alice',
      { ...base, 'catalogs/v4.20/mine/OWNERS': 'approvers: [mallory]\n' },
      'wait',
    ],
    ['a maintainer adds an owner', 'maria', ci('alice', 'alan', 'nina'), 'merge'],
    ['a maintainer adds themselves', 'maria', ci('alice', 'alan', 'maria'), 'wait'],
    [
      'an owner becomes a maintainer',
      'alice',
      { ...base, 'config.yaml': 'maintainers:\n  - maria\n  - alice\n' },
      'wait',
    ],
    ['an owner writes a CODEOWNERS file', 'alice', { ...base, CODEOWNERS: '* @alice\n' }, 'wait'],
    [
      'an owner writes an earlier CODEOWNERS file',
      'alice',
      { ...base, '.github/CODEOWNERS': '* @alice\n' },
      'wait',
    ],
  ]
  test.each(table)('%s', async (_, author, head, expected) => {
    expect((await world.pull(base, head, { author })).verdict.kind).toBe(expected)
  })
  test('an owner who is added has no voice in it; an owner who is there already has', async () => {
    const from = world.origin.commit(base)
    const head = world.origin.commit(ci('alice', 'alan', 'nina'), [from])
    const by = (login: string) =>
      world.judge(from, head, { author: 'alice', reviews: [world.review(login, head)] })
    expect((await by('nina')).verdict.kind).toBe('wait')
    expect((await by('vera')).verdict.kind).toBe('wait')
    expect((await by('alan')).verdict.kind).toBe('merge')
    expect((await by('maria')).verdict.kind).toBe('merge')
  })
  test('a new owner must be known to GitHub: no answer is no yes', async () => {
    world.people.fails = (question) =>
      question.kind === 'user' && question.login === 'nina'
        ? { kind: 'unknown', reason: 'GitHub answered 502', retryAfter: 5 }
        : undefined
    const { verdict } = await world.pull(base, ci('alice', 'alan', 'nina'), { author: 'maria' })
    world.people.fails = () => undefined
    expect(verdict.kind).toBe('unknown')
  })
})

describe('T06: new packages and confusable names', () => {
  const fresh = (name: string): Files => ({
    ...base,
    [ciOf(name)]: reviewers('mallory'),
    [catalogOf(name)]: catalogFile(name, ['1.0.0']),
  })
  test('a new package and its first owner are a maintainer’s decision', async () => {
    const from = world.origin.commit(base)
    const head = world.origin.commit(fresh('brand-new'), [from])
    const judge = (...reviews: string[]) =>
      world.judge(from, head, {
        author: 'mallory',
        reviews: reviews.map((login) => world.review(login, head)),
      })
    const alone = await judge()
    expect(alone.verdict.kind).toBe('wait')
    expect(alone.rules).toEqual(['new-package'])
    expect((await judge('vera', 'alice')).verdict.kind).toBe('wait')
    expect((await judge('maria')).verdict.kind).toBe('merge')
  })
  test.each([
    'Victim',
    'VICTIM',
    'vict1m',
    'victlm',
    'vic-tim',
    'victim-',
    '-victim',
    'victim.',
    'vıctim',
    'viсtim',
    'con',
    'aux',
    'victim_',
  ])('the name %j is refused, also to maintainers', async (name) => {
    const { verdict } = await world.pull(base, fresh(name), { author: 'maria' })
    expect(verdict.kind).toBe('blocked')
  })
  test('a file that differs from another by case alone is refused', async () => {
    const { rules } = await world.pull(base, { ...base, 'operators/mine/CI.yaml': 'x: y\n' }, byAlice)
    expect(rules).toContain('confusable-name')
  })
  test("a package name in content that is another directory's is refused", async () => {
    const head = { ...base, [catalogOf('newdir')]: catalogFile('victim', ['9.0.0']) }
    const { verdict, rules } = await world.pull(base, head, { author: 'maria' })
    expect(verdict.kind).toBe('blocked')
    expect(rules).toContain('package-content-mismatch')
  })
})

describe('the first catalogs of a repository', () => {
  const bare: Files = {
    'config.yaml': 'maintainers:\n  - maria\n',
    [ciOf('mine')]: reviewers('alice'),
    'tools/run.yaml': 'x: 1\n',
  }
  const first: Files = { ...bare, [catalogOf('mine')]: catalogFile('mine', ['1.0.0']) }
  test('are catalogs, which a maintainer adds alone and whoever else with a maintainer', async () => {
    const byMaria = await world.pull(bare, first, { author: 'maria' })
    expect(byMaria.input.change.catalogs).toMatchObject([{ root: 'catalogs/v4.20' }])
    expect(byMaria.verdict.kind).toBe('merge')
    const { verdict, outcome } = await world.pull(bare, first, byAlice)
    expect(verdict.kind).toBe('wait')
    expect(outcome.findings[0]?.data).toMatchObject({ by: 'maintainer' })
    expect(outcome.findings.flatMap(({ data }) => data?.['kinds'] ?? [])).toContain('add-catalog')
  })
  test('take no directory that the base has files in', async () => {
    const taken = { ...bare, 'catalog/Makefile': 'all:\n' }
    const inside = { ...taken, 'catalog/mine/catalog.yaml': catalogFile('mine', ['1.0.0']) }
    const { input, rules } = await world.pull(taken, inside, { author: 'maria' })
    expect(input.change.catalogs).toEqual([])
    expect(rules).toEqual(['outside-packages'])
  })
})

describe('T07: links, submodules, executables', () => {
  test.each([
    ['120000', { mode: '120000', content: '../../victim/catalog.yaml' }],
    ['160000', { mode: '160000', oid: 'a'.repeat(40) }],
  ])('mode %s is refused, as a new file and as another kind of an old one', async (mode, file) => {
    const path = 'operators/mine/notes.md'
    for (const before of [base, { ...base, [path]: 'x\n' }]) {
      const { verdict, outcome } = await world.pull(before, { ...before, [path]: file }, byAlice)
      expect(verdict.kind).toBe('blocked')
      expect(outcome.findings).toMatchObject([{ rule: 'file-mode', at: { file: path }, data: { mode } }])
    }
  })
  test('an executable bit is a note: the content is what counts, and nothing runs it', async () => {
    const path = 'operators/mine/notes.md'
    for (const before of [base, { ...base, [path]: 'x\n' }]) {
      const after = { ...before, [path]: { mode: '100755', content: 'x\n' } }
      const { verdict, outcome } = await world.pull(before, after, byAlice)
      expect(verdict.kind).toBe('merge')
      expect(outcome.findings).toMatchObject([
        { rule: 'executable-file', severity: 'info', at: { file: path } },
      ])
    }
  })
  test('one that is there may be turned into a plain file, or removed', async () => {
    const path = 'operators/mine/notes.md'
    const before = { ...base, [path]: { mode: '120000', content: '/etc/passwd' } }
    expect((await world.pull(before, { ...base, [path]: 'x\n' }, byAlice)).verdict.kind).toBe('merge')
    expect((await world.pull(before, base, byAlice)).verdict.kind).toBe('merge')
  })
  test('an owner file that is a link gives nobody authority', async () => {
    const linked = { ...base, [ciOf('mine')]: { mode: '120000', content: '../../operators/x.yaml' } }
    const { verdict, rules } = await world.pull(linked, { ...linked, ...update }, byAlice)
    expect(verdict.kind).toBe('wait')
    expect(rules).toContain('owner-source-broken')
  })
})

describe('T08: odd paths', () => {
  test.each([
    'operators/mine/a b\nc.yaml',
    'operators/mine/a\tb',
    'operators/mine/\u202egnp.yaml',
    'operators/mine/é.yaml',
    'operators/mine/a\\b',
    'operators/mine/a:stream',
    'operators/mine/-rf',
    'operators/mine/trailing. ',
    'operators/mine/nul.yaml',
    `operators/mine/${'a'.repeat(250)}`,
    `operators/mine/${'d/'.repeat(60)}x`,
    'operators/mine/\u0007',
  ])('%j is refused', async (path) => {
    const { verdict, rules } = await world.pull(base, { ...base, [path]: 'x\n' }, byAlice)
    expect(verdict.kind).toBe('blocked')
    expect(rules).toContain('odd-path')
  })
})

describe('T09: files that change what others see', () => {
  test.each([
    'operators/mine/.gitattributes',
    'catalogs/v4.20/mine/.gitattributes',
    'catalogs/v4.20/mine/.gitmodules',
    'operators/mine/.mailmap',
    'operators/mine/.gitignore',
    'operators/mine/.editorconfig',
    'operators/mine/.github/workflows/x.yml',
    'catalogs/v4.20/.indexignore',
  ])("%s is the repository's own, wherever it lies", async (path) => {
    const { verdict, rules } = await world.pull(base, { ...base, [path]: '* -diff\n' }, byAlice)
    expect(verdict.kind).toBe('wait')
    expect(rules).toContain('outside-packages')
  })
  test('attributes at the base do not change what is authorised', async () => {
    const attributes = { '.gitattributes': '* merge=ours -diff text eol=crlf filter=x ident export-subst\n' }
    const judged = await world.pull({ ...base, ...attributes }, { ...updated, ...attributes }, byAlice)
    expect(judged.input.change.paths.map(({ path }) => path)).toEqual([catalogOf('mine')])
    expect(judged.verdict.kind).toBe('merge')
  })
})

describe('T10: everything outside packages is merged by hand', () => {
  const outside = [
    '.github/workflows/ci.yml',
    '.github/catalog-bot.yml',
    'Makefile',
    'config.yaml',
    'README.md',
    'catalog.Dockerfile',
    'catalogs/README.md',
    'catalogs/v4.20/README.md',
    'CODEOWNERS',
    'OWNERS',
    'OWNERS_ALIASES',
    'operators/README.md',
    'docs/CODEOWNERS',
    'templates/shared.yaml',
  ]
  test.each(outside)('%s, in an update that is otherwise fine', async (path) => {
    for (const author of ['alice', 'maria']) {
      const { verdict, rules, outcome } = await world.pull(base, { ...updated, [path]: '# x\n' }, { author })
      expect(verdict.kind).toBe('wait')
      expect(rules).toContain('outside-packages')
      expect(outcome.waiting.at(-1)?.what).toContain('by hand')
    }
  })
  test('no approval makes the bot land it', async () => {
    const from = world.origin.commit(base)
    const head = world.origin.commit({ ...base, Makefile: 'x\n' }, [from])
    const reviews = ['maria', 'vera', 'alan'].map((login) => world.review(login, head))
    expect((await world.judge(from, head, { author: 'alice', reviews })).verdict.kind).toBe('wait')
  })
})

describe('T11: content decides as well as place', () => {
  const mine = catalogFile('mine', ['1.0.0'])
  test.each([
    ['a channel', `---\nschema: olm.channel\nname: evil\npackage: victim\nentries: []\n`],
    ['a bundle', `---\nschema: olm.bundle\nname: victim.v6\npackage: victim\nimage: x\n`],
    ['a deprecation', `---\nschema: olm.deprecations\npackage: victim\nentries: []\n`],
    ['a package', `---\nschema: olm.package\nname: victim\ndefaultChannel: evil\n`],
    ['any other blob', `---\nschema: custom.note\nname: n\npackage: victim\n`],
  ])("%s of another package in one's own file is refused at its line", async (_, blob) => {
    const judged = await world.pull(base, { ...base, [catalogOf('mine')]: mine + blob }, byAlice)
    expect(judged.verdict.kind).toBe('blocked')
    expect(
      judged.outcome.findings.find(({ rule }) => rule === 'package-content-mismatch')?.data,
    ).toMatchObject({
      package: 'victim',
      home: 'victim',
    })
    expect(judged.outcome.findings.find(({ rule }) => rule === 'not-owner')?.data).toMatchObject({
      package: 'victim',
    })
  })
  test("taking another package's blobs out of one's own file is refused too", async () => {
    const split = {
      ...base,
      [catalogOf('mine')]: `${mine}---\nschema: olm.channel\nname: extra\npackage: victim\nentries: []\n`,
    }
    const judged = await world.pull(split, base, byAlice)
    expect(judged.verdict.kind).toBe('wait')
    expect(judged.outcome.findings[0]?.data).toMatchObject({ package: 'victim' })
  })
  test("a bundle with the name of another package's is refused", async () => {
    const taken = catalogFile('mine', ['1.0.0', '1.1.0']).replaceAll('mine.v1.1.0', 'victim.v1.1.0')
    const { rules, verdict } = await world.pull(base, { ...base, [catalogOf('mine')]: taken }, byAlice)
    expect(verdict.kind).toBe('blocked')
    expect(rules).toContain('package-content-mismatch')
  })
  test('a directory that holds a package of another name is its owner’s all the same (2.1)', async () => {
    for (const [directory, name] of [
      ['konflux', 'konflux-operator'],
      ['isovalent-networking', 'clife'],
      ['eda-openshift-operator', 'eda-k8s-operator'],
    ] as const) {
      const before = {
        ...base,
        [ciOf(directory)]: reviewers('nina'),
        [catalogOf(directory)]: catalogFile(name, ['1.0.0']),
      }
      const after = { ...before, [catalogOf(directory)]: catalogFile(name, ['1.0.0', '1.1.0']) }
      expect((await world.pull(before, after, { author: 'nina' })).verdict.kind).toBe('merge')
      expect((await world.pull(before, after, { author: 'mallory' })).verdict.kind).toBe('wait')
      // And into one more catalog, where it is known what the directory holds.
      const more = { ...before, [catalogOf('victim', 'v4.21')]: catalogFile('victim', ['1.0.0']) }
      const promoted = { ...more, [catalogOf(directory, 'v4.21')]: catalogFile(name, ['1.0.0']) }
      const packagesByDirectory = new Map([[directory, [name]]])
      expect((await world.pull(more, promoted, { author: 'nina', packagesByDirectory })).verdict.kind).toBe(
        'merge',
      )
      expect((await world.pull(more, promoted, { author: 'nina' })).verdict.kind).toBe('wait')
    }
  })
  test('an ignore file that hides a package takes its owner’s consent', async () => {
    const judged = await world.pull(
      { ...base, 'catalogs/v4.20/index.yaml': 'schema: custom.note\nname: n\npackage: victim\n' },
      base,
      byAlice,
    )
    expect(judged.verdict.kind).toBe('wait')
    expect(packagesIn(judged)).toEqual(['victim'])
  })
})

describe('T12: mutable references', () => {
  test('are the images check’s to judge: whether an image is named by tag changes nobody’s rights', async () => {
    const byTag = {
      ...updated,
      [catalogOf('mine')]: (update[catalogOf('mine')] ?? '').replace(/@sha256:0+(?![^]*@sha256)/, ':latest'),
    }
    const first = await world.pull(base, updated, { author: 'mallory' })
    const second = await world.pull(base, byTag, { author: 'mallory' })
    expect(second.outcome.waiting).toEqual(first.outcome.waiting)
  })
})

describe('T13: two changes that are fine alone', () => {
  test('the second is judged on what the first left, never on what it was made from', async () => {
    const root = world.origin.commit(base)
    const first = world.origin.commit({ ...base, [ciOf('victim')]: reviewers('nina') }, [root])
    const second = world.origin.commit(
      { ...base, [catalogOf('victim')]: catalogFile('victim', ['1.0.0', '1.1.0', '1.2.0']) },
      [root],
    )
    expect((await world.judge(root, second, { author: 'vera' })).verdict.kind).toBe('merge')
    expect((await world.judge(first, second, { author: 'vera' })).verdict.kind).toBe('wait')
    expect((await world.judge(first, second, { author: 'nina' })).verdict.kind).toBe('merge')
  })
})

describe('T14: what lands is not what the pull request shows', () => {
  test('an edit follows the file that the base has moved to another owner', async () => {
    const root = world.origin.commit({ ...base, 'operators/mine/x.yaml': longFile('line', 100) })
    const head = world.origin.commit({ ...base, 'operators/mine/x.yaml': longFile('line', 100, 50) }, [root])
    const tip = world.origin.commit({ ...base, 'operators/victim/x.yaml': longFile('line', 100) }, [root])
    const judged = await world.judge(tip, head, byAlice)
    // The merge reports it, or follows the move; then it is the victim's file that is touched.
    expect(judged.verdict.kind).not.toBe('merge')
    if (judged.verdict.kind === 'wait')
      expect(judged.input.change.paths.map(({ path }) => path)).toEqual(['operators/victim/x.yaml'])
  })
  test('a new file in a directory that the base has renamed', async () => {
    const files = (directory: string): Files =>
      Object.fromEntries(
        [1, 2, 3].map((at) => [`operators/${directory}/deep/${at}.md`, longFile(`n${at}`, 30)]),
      )
    const root = world.origin.commit({ ...base, ...files('mine') })
    const head = world.origin.commit({ ...base, ...files('mine'), 'operators/mine/deep/new.md': 'x\n' }, [
      root,
    ])
    const tip = world.origin.commit({ ...base, ...files('victim') }, [root])
    const judged = await world.judge(tip, head, byAlice)
    // Git reports a conflict, or moves the file; what it must not do is put it into the victim's directory unseen.
    if (judged.verdict.kind === 'merge')
      expect(judged.input.change.paths.map(({ path }) => path)).toEqual(['operators/mine/deep/new.md'])
    else expect(['blocked', 'wait']).toContain(judged.verdict.kind)
  })
  test('a criss-cross history that silently reverts the victim', async () => {
    const v = (version: string) => ({
      ...base,
      [catalogOf('victim')]: catalogFile('victim', ['1.0.0', version]),
    })
    const note = { 'operators/mine/notes.md': 'x\n' }
    const root = world.origin.commit(v('1.1.0'))
    const p1 = world.origin.commit({ ...v('1.1.0'), ...note }, [root])
    const m1 = world.origin.commit(v('1.2.0'), [root])
    const m2 = world.origin.commit({ ...v('1.2.0'), ...note }, [m1, p1])
    const p2 = world.origin.commit({ ...v('1.1.0'), ...note }, [p1, m1])
    const head = world.origin.commit({ ...v('1.1.0'), ...note, 'operators/mine/more.md': 'x\n' }, [p2])
    const judged = await world.judge(m2, head, byAlice)
    expect(judged.verdict.kind).not.toBe('merge')
  })
})

describe('T15: changes inside merge commits', () => {
  test('an update merge that edits a foreign file on the way is seen', async () => {
    const root = world.origin.commit(base)
    const own = world.origin.commit(updated, [root])
    const tip = world.origin.commit({ ...base, 'operators/victim/notes.md': 'x\n' }, [root])
    const evil = world.origin.commit({ ...updated, 'operators/victim/notes.md': 'evil\n' }, [own, tip])
    const judged = await world.judge(tip, evil, byAlice)
    expect(judged.verdict.kind).toBe('wait')
    expect(packagesIn(judged)).toEqual(['victim'])
  })
  test('the shape of the history changes nothing', async () => {
    const root = world.origin.commit(base)
    const one = world.origin.commit(updated, [root])
    const empty = world.origin.commit(updated, [world.origin.commit(base, [root])], {
      author: 'vera <vera@example.com>',
    })
    for (const head of [one, empty])
      expect((await world.judge(root, head, byAlice)).verdict.kind).toBe('merge')
  })
  test('an approval is carried over only where the configuration says so, and only for the same bytes', async () => {
    const keep = { '.github/catalog-bot.yml': 'approvals:\n  carryOver: true\n' }
    for (const [extra, expected] of [
      [{}, 'wait'],
      [keep, 'merge'],
    ] as const) {
      const root = world.origin.commit({ ...base, ...extra })
      const first = world.origin.commit({ ...updated, ...extra }, [root])
      const said = await world.judge(root, first, {
        author: 'mallory',
        configDigest: 'c',
        reviews: [world.review('alan', first)],
      })
      expect(said.verdict.kind).toBe('merge')
      const { coverage } = await import('../../../src/checks/ownership/ownership.ts')
      const approvals = said.input.approvals.map((approval) => ({
        ...approval,
        config: 'c',
        covers: coverage(said.input),
      }))
      const same = world.origin.commit({ ...updated, ...extra }, [first])
      const judge = (head: typeof same, more = {}) =>
        world.judge(root, head, { author: 'mallory', approvals, epoch: 1, configDigest: 'c', ...more })
      expect((await judge(same)).verdict.kind).toBe(expected)
      const other = world.origin.commit({ ...updated, ...extra, 'operators/mine/notes.md': 'x\n' }, [first])
      expect((await judge(other)).verdict.kind).toBe('wait')
      expect((await judge(same, { configDigest: 'd' })).verdict.kind).toBe('wait')
      expect((await judge(same, { snapshot: { baseRef: 'release' } })).verdict.kind).toBe('wait')
    }
  })
})

describe('T16: what is permitted is one commit with one tree', () => {
  test('the permit names the very merge commit whose tree was authorised', async () => {
    const { verdict } = await world.pull(base, updated, byAlice)
    expect(verdict.permit?.landing.commit).toBe(verdict.result?.commit)
    expect(verdict.permit?.landing.tree).toBe(world.origin.tree(world.origin.commit(updated)))
  })
})

describe('T17: stacked pull requests', () => {
  test('wait for the one below them', async () => {
    const { verdict } = await world.pull(base, updated, { author: 'alice', snapshot: { stacked: true } })
    expect(verdict).toMatchObject({ kind: 'wait', reasons: [{ code: 'stacked' }] })
  })
})

describe('T18: another base branch', () => {
  test('an approval for one branch is none for another', async () => {
    const from = world.origin.commit(base)
    const head = world.origin.commit(updated, [from])
    const said = await world.judge(from, head, { author: 'mallory', reviews: [world.review('alan', head)] })
    expect(said.verdict.kind).toBe('merge')
    const { approvals } = said.input
    const retargeted = { author: 'mallory', approvals, snapshot: { baseRef: 'release' } }
    expect((await world.judge(from, head, retargeted)).verdict.kind).toBe('wait')
    expect((await world.judge(from, head, { author: 'mallory', approvals, epoch: 2 })).verdict.kind).toBe(
      'wait',
    )
  })
})
