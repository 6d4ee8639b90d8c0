// What an attacker can change, and how they hide it: threats T01 to T18. Every attack uses a real repository.
import { afterAll, describe, expect, test } from '@jest/globals'
import { createNumberedLines, type OriginFiles } from '../../adapters/git/origin.ts'
import { parseCatalogFile } from '../../../packages/fbc/src/load/parse-catalog-file.ts'
import { createCatalogLoader } from '../../../src/catalogs/catalog-loader.ts'
import { noopCache } from '../../../src/catalogs/memory-cache.ts'
import { createTestPullSnapshot } from '../../policy/verdict-inputs.ts'
import { createCatalogYaml } from './read-catalog-text.ts'
import {
  createOwnershipScenario,
  type OwnershipEvaluation,
  type ScenarioPullOptions,
} from './ownership-scenario.ts'

const scenario = await createOwnershipScenario('changes')
const { origin, fakeAccounts, evaluatePull, decidePull, decide: verdictOf, createReview } = scenario
for (const login of ['alice', 'alan', 'vera', 'maria', 'mallory', 'nina']) fakeAccounts.person(login)
afterAll(() => scenario.close())

const createReviewersYaml = (...logins: string[]) =>
  `reviewers:\n${logins.map((login) => `  - ${login}\n`).join('')}`
const getCiYamlPath = (name: string) => `operators/${name}/ci.yaml`
const getCatalogPath = (name: string, version = 'v4.20') => `catalogs/${version}/${name}/catalog.yaml`

/** Alice and Alan own `mine`, Vera owns `victim`, Maria maintains the repository. */
const baseFiles: OriginFiles = {
  'config.yaml': 'maintainers:\n  - maria\n',
  [getCiYamlPath('victim')]: createReviewersYaml('vera'),
  [getCiYamlPath('mine')]: createReviewersYaml('alice', 'alan'),
  [getCatalogPath('victim')]: createCatalogYaml('victim', ['1.0.0', '1.1.0']),
  [getCatalogPath('mine')]: createCatalogYaml('mine', ['1.0.0']),
}
const omitFilePaths = (files: OriginFiles, ...paths: string[]): OriginFiles =>
  Object.fromEntries(Object.entries(files).filter(([path]) => !paths.includes(path)))
const authorPackageChanges = { [getCatalogPath('mine')]: createCatalogYaml('mine', ['1.0.0', '1.1.0']) }
const updatedFiles: OriginFiles = { ...baseFiles, ...authorPackageChanges }
const byAlice = { author: 'alice' }
const evaluateChange = (changes: OriginFiles, options: ScenarioPullOptions = byAlice) =>
  evaluatePull(baseFiles, { ...baseFiles, ...changes }, options)
const listPackagesWithFindings = ({ outcome }: OwnershipEvaluation) =>
  [...new Set(outcome.findings.map(({ data }) => data?.['package']))].sort()

describe('an owner', () => {
  test('can add a bundle to their package alone', async () => {
    const { verdict, outcome } = await evaluateChange(authorPackageChanges)
    expect(outcome.findings).toEqual([])
    expect(verdict.kind).toBe('merge')
  })
  test('requires one query for their login, and no other query', async () => {
    const { questions } = await evaluateChange(authorPackageChanges)
    expect(questions).toEqual([{ kind: 'user', login: 'alice' }])
  })
  test('gets one finding for a file that concerns several directories of its package', async () => {
    const [pkg = '', ...others] = createCatalogYaml('mine', ['1.0.0']).split(/^(?=---\n)/m)
    const split: OriginFiles = {
      'config.yaml': 'maintainers:\n  - maria\n',
      'catalog-4-20/package.yaml': pkg,
      ...Object.fromEntries(others.map((blob, at) => [`catalog-4-20/channels/${at}.yaml`, blob])),
      'catalog-4-20/bundles/note.yaml': 'schema: note\npackage: mine\n',
    }
    const { outcome } = await evaluatePull(
      split,
      { ...split, 'catalog-4-20/bundles/note.yaml': 'schema: note\npackage: mine\nname: x\n' },
      { author: 'mallory' },
    )
    expect(outcome.findings.map(({ rule, at }) => [rule, at?.file])).toEqual([
      ['not-owner', 'catalog-4-20/bundles/note.yaml'],
    ])
  })
  test('needs a maintainer to edit or remove bundles or to remove a channel', async () => {
    const catalog = createCatalogYaml('mine', ['1.0.0', '1.1.0'])
    for (const [file, kind] of [
      [
        createCatalogYaml('mine', ['1.0.0', '1.1.0'], {
          bundle: 'relatedImages: [{ name: x, image: quay.io/x/y:1 }]\n',
        }),
        'edit-bundle',
      ],
      [createCatalogYaml('mine', ['1.0.0']), 'remove-bundle'],
      [catalog.replace('name: stable', 'name: other'), 'remove-channel'],
    ] as const) {
      const { verdict, rules, outcome } = await evaluatePull(
        updatedFiles,
        { ...baseFiles, [getCatalogPath('mine')]: file },
        byAlice,
      )
      expect(verdict.kind).toBe('wait')
      expect(rules).toEqual(['consent-missing'])
      expect(outcome.findings[0]?.data).toMatchObject({ by: 'maintainer' })
      expect(outcome.findings.flatMap(({ data }) => data?.['kinds'])).toContain(kind)
      expect(outcome.waiting).toMatchObject([{ who: ['maria'] }])
    }
  })
  test('can add their package to another catalog alone', async () => {
    const more = { ...baseFiles, [getCatalogPath('victim', 'v4.21')]: createCatalogYaml('victim', ['1.0.0']) }
    const promoted = { ...more, [getCatalogPath('mine', 'v4.21')]: createCatalogYaml('mine', ['1.0.0']) }
    expect(await decidePull(more, promoted, byAlice)).toBe('merge')
  })
})

test('a new catalog needs a maintainer, even if an owner only adds their package to it', async () => {
  const catalog = { [getCatalogPath('mine', 'v4.21')]: createCatalogYaml('mine', ['1.0.0']) }
  const { verdict, outcome } = await evaluateChange(catalog)
  expect(verdict.kind).toBe('wait')
  expect(outcome.findings[0]?.data).toMatchObject({ by: 'maintainer', kinds: ['add-catalog'] })
  expect((await evaluateChange(catalog, { author: 'maria' })).verdict.kind).toBe('merge')
})

test('an author without ownership waits for an owner, and the result lists the owners', async () => {
  const { verdict, outcome, rules } = await evaluateChange(authorPackageChanges, { author: 'mallory' })
  expect(verdict.kind).toBe('wait')
  expect(rules).toEqual(['not-owner'])
  expect(outcome.findings[0]).toMatchObject({
    at: { file: getCatalogPath('mine') },
    data: { package: 'mine', owners: ['alice', 'alan'] },
  })
  expect(outcome.waiting).toEqual([{ what: 'an owner of mine must approve', who: ['alice', 'alan'] }])
})

test("T01: rename theft: moving the victim's file to the author's directory needs the consent of the victim", async () => {
  const stolen = { 'operators/victim/csv.yaml': createNumberedLines('csv', 60) }
  const result = await evaluatePull(
    { ...baseFiles, ...stolen },
    { ...baseFiles, 'operators/mine/csv.yaml': createNumberedLines('csv', 60) },
    byAlice,
  )
  expect(result.verdict.kind).toBe('wait')
  expect(result.input.change.paths.map(({ path }) => path)).toEqual([
    'operators/mine/csv.yaml',
    'operators/victim/csv.yaml',
  ])
  expect(result.outcome.findings).toMatchObject([
    { rule: 'not-owner', data: { path: 'operators/victim/csv.yaml', owners: ['vera'] } },
  ])
})

test('T02: long lists: files of other owners are found at any position, such as position 3001', async () => {
  const positions = [30, 31, 100, 101, 250, 251, 2999, 3000, 3001]
  const victims = positions.map((_, at) => `p${at}-victim`)
  const base: Record<string, OriginFiles[string]> = { ...baseFiles }
  const added: Record<string, OriginFiles[string]> = {}
  for (const [at, position] of [...positions, 3003].entries()) {
    base[getCiYamlPath(`p${at}-mine`)] = createReviewersYaml('alice')
    base[getCiYamlPath(`p${at}-victim`)] = createReviewersYaml('vera')
    for (let own = (positions[at - 1] ?? 0) + 1; own < position; own++)
      added[`operators/p${at}-mine/note-${String(own).padStart(4, '0')}.md`] = 'x\n'
    if (at < positions.length) added[`operators/p${at}-victim/notes.md`] = 'x\n'
  }
  const result = await evaluatePull(base, { ...base, ...added }, byAlice)
  expect(positions.map((position) => result.input.change.paths[position - 1]?.path)).toEqual(
    victims.map((name) => `operators/${name}/notes.md`),
  )
  expect(result.verdict.kind).toBe('wait')
  expect(listPackagesWithFindings(result)).toEqual(victims)
})

test.each([
  '--- a/operators/victim/ci.yaml\n+++ b/operators/mine/ci.yaml\n',
  '@@ -1,3 +0,0 @@\n',
  '\\ No newline at end of file\n',
  'rename from operators/victim/x\nrename to operators/mine/x\n',
  'diff --git a/x b/x\ndeleted file mode 100644\n',
  '"a\\tb" => b\n',
])('T03: content that looks like a diff: %j in a file hides nothing', async (lines) => {
  const notes = { 'operators/mine/notes.md': lines, 'operators/victim/notes.md': lines }
  const result = await evaluateChange({ ...authorPackageChanges, ...notes })
  expect(result.input.change.paths.map(({ path }) => path)).toEqual([
    getCatalogPath('mine'),
    'operators/mine/notes.md',
    'operators/victim/notes.md',
  ])
  expect(listPackagesWithFindings(result)).toEqual(['victim'])
})

describe('T04: owners come from the tip of the base branch, for any history of the pull request', () => {
  const granted = { ...baseFiles, [getCiYamlPath('victim')]: createReviewersYaml('vera', 'mallory') }
  const attack = {
    ...baseFiles,
    [getCatalogPath('victim')]: createCatalogYaml('victim', ['1.0.0', '1.1.0', '6.6.6']),
  }
  test.each([1, 101, 251])('%d commits that grant and revoke ownership', async (count) => {
    const root = origin.commit(baseFiles)
    let head = root
    for (let at = 0; at < count; at += 1)
      head = origin.commit({ ...granted, [`operators/victim/${at}.md`]: 'x\n' }, [head])
    head = origin.commit(attack, [head])
    const result = await scenario.evaluate(root, head, { author: 'mallory' })
    expect(result.verdict.kind).toBe('wait')
    expect(result.outcome.findings[0]?.data).toMatchObject({ owners: ['vera'] })
  })
  test('the base revoked the permissions after the branch was created', async () => {
    const root = origin.commit(granted)
    const head = origin.commit(
      { ...granted, ...attack, [getCiYamlPath('victim')]: createReviewersYaml('vera', 'mallory') },
      [root],
    )
    const tip = origin.commit(baseFiles, [root])
    expect(await verdictOf(tip, head, { author: 'mallory' })).toBe('wait')
  })
  test('a merge commit that adds owners', async () => {
    const root = origin.commit(baseFiles)
    const side = origin.commit(granted, [root])
    const head = origin.commit(
      { ...attack, [getCiYamlPath('victim')]: createReviewersYaml('vera', 'mallory') },
      [root, side],
    )
    const result = await scenario.evaluate(root, head, { author: 'mallory' })
    expect(result.verdict.kind).toBe('wait')
    expect(result.rules).toEqual(['not-owner', 'owner-file-change'])
  })
  test('an unrelated history', async () => {
    const root = origin.commit(baseFiles)
    const head = origin.commit({ ...granted, ...attack })
    expect(await verdictOf(root, head, { author: 'mallory' })).not.toBe('merge')
  })
})

describe('T05: authors cannot grant ownership to themselves', () => {
  const ci = (...logins: string[]) => ({
    ...baseFiles,
    [getCiYamlPath('mine')]: createReviewersYaml(...logins),
  })
  const ciSetting = (setting: string) => ({
    ...baseFiles,
    [getCiYamlPath('mine')]: `${setting}\n${createReviewersYaml('alice', 'alan')}`,
  })
  const table: [string, string, OriginFiles, string][] = [
    ['an outsider adds themselves', 'mallory', ci('alice', 'alan', 'mallory'), 'wait'],
    [
      'an outsider adds themselves and changes the package',
      'mallory',
      { ...ci('mallory'), ...authorPackageChanges },
      'wait',
    ],
    ['an owner adds a friend', 'alice', ci('alice', 'alan', 'nina'), 'wait'],
    [
      'an owner adds a friend in an update',
      'alice',
      { ...ci('alice', 'alan', 'nina'), ...authorPackageChanges },
      'wait',
    ],
    ['an owner removes the last other owner', 'alice', ci('alice'), 'wait'],
    ['an owner steps down', 'alice', ci('alan'), 'merge'],
    ['an owner deletes the list', 'alice', omitFilePaths(baseFiles, getCiYamlPath('mine')), 'wait'],
    ['an owner reorders the list', 'alice', ci('alan', 'alice'), 'merge'],
    ['an owner writes a login in another case', 'alice', ci('ALICE', 'alan'), 'merge'],
    [
      'an owner breaks the list',
      'alice',
      { ...baseFiles, [getCiYamlPath('mine')]: 'reviewers: alice\n' },
      'blocked',
    ],
    ['an owner names an account that does not exist', 'alice', ci('alice', 'alan', 'nobody-yet'), 'blocked'],
    ['an owner turns landing off for all', 'alice', ciSetting('merge: false'), 'wait'],
    ['an owner takes a partner project', 'alice', ciSetting('cert_project_id: 1'), 'wait'],
    ['an owner changes another setting', 'alice', ciSetting('updateGraph: semver-mode'), 'merge'],
    [
      'an owner gives their list to a new file',
      'alice',
      { ...baseFiles, 'catalogs/v4.20/mine/OWNERS': 'approvers: [mallory]\n' },
      'wait',
    ],
    ['a maintainer adds an owner', 'maria', ci('alice', 'alan', 'nina'), 'merge'],
    ['a maintainer adds themselves', 'maria', ci('alice', 'alan', 'maria'), 'wait'],
    [
      'an owner becomes a maintainer',
      'alice',
      { ...baseFiles, 'config.yaml': 'maintainers:\n  - maria\n  - alice\n' },
      'wait',
    ],
    ['an owner writes a CODEOWNERS file', 'alice', { ...baseFiles, CODEOWNERS: '* @alice\n' }, 'wait'],
    [
      'an owner writes an earlier CODEOWNERS file',
      'alice',
      { ...baseFiles, '.github/CODEOWNERS': '* @alice\n' },
      'wait',
    ],
  ]
  test.each(table)('%s', async (_, author, head, expected) => {
    expect(await decidePull(baseFiles, head, { author })).toBe(expected)
  })
  test('a new owner cannot approve their addition, but an existing owner can', async () => {
    const from = origin.commit(baseFiles)
    const head = origin.commit(ci('alice', 'alan', 'nina'), [from])
    const by = (login: string) =>
      scenario.evaluate(from, head, { author: 'alice', reviews: [createReview(login, head)] })
    expect((await by('nina')).verdict.kind).toBe('wait')
    expect((await by('vera')).verdict.kind).toBe('wait')
    expect((await by('alan')).verdict.kind).toBe('merge')
    expect((await by('maria')).verdict.kind).toBe('merge')
  })
  test('a new owner must be known to GitHub, and without an answer the verdict is unknown', async () => {
    fakeAccounts.fails = (question) =>
      question.kind === 'user' && question.login === 'nina'
        ? { kind: 'unknown', reason: 'GitHub answered 502', retryAfter: 5 }
        : undefined
    const { verdict } = await evaluateChange(ci('alice', 'alan', 'nina'), { author: 'maria' })
    fakeAccounts.fails = () => undefined
    expect(verdict.kind).toBe('unknown')
  })
  const owners = (...names: string[]) => ({
    'operators/mine/CATALOG_OWNERS': createReviewersYaml(...names).replace('reviewers', 'approvers'),
  })
  test('the id of a new owner must be the id of their login, because a comment shows only the login', async () => {
    const { id } = fakeAccounts.person('nina')
    const evaluate = async (name: string) => (await evaluateChange(owners(name), { author: 'maria' })).rules
    expect(await evaluate(`nina:${id}`)).toEqual([])
    expect(await evaluate(`nina:${id + 1}`)).toEqual(['owner-unknown'])
  })
  test('an owner who was renamed, or who shares ownership with an App, cannot remove the last other owner', async () => {
    const renamed = `old-alice:${fakeAccounts.person('alice').id}`
    for (const remaining of [[renamed], ['alice', 'helper[bot]']]) {
      const base = { ...omitFilePaths(baseFiles, getCiYamlPath('mine')), ...owners('alan', ...remaining) }
      const result = await evaluatePull(base, { ...base, ...owners(...remaining) }, byAlice)
      expect([remaining, result.verdict.kind]).toEqual([remaining, 'wait'])
    }
  })
})

describe('T06: new packages and confusable names', () => {
  const fresh = (name: string): OriginFiles => ({
    ...baseFiles,
    [getCiYamlPath(name)]: createReviewersYaml('mallory'),
    [getCatalogPath(name)]: createCatalogYaml(name, ['1.0.0']),
  })
  test('a new package and its first owner need a maintainer', async () => {
    const from = origin.commit(baseFiles)
    const head = origin.commit(fresh('brand-new'), [from])
    const evaluate = (...reviews: string[]) =>
      scenario.evaluate(from, head, {
        author: 'mallory',
        reviews: reviews.map((login) => createReview(login, head)),
      })
    const alone = await evaluate()
    expect(alone.verdict.kind).toBe('wait')
    expect(alone.rules).toEqual(['new-package'])
    expect((await evaluate('vera', 'alice')).verdict.kind).toBe('wait')
    expect((await evaluate('maria')).verdict.kind).toBe('merge')
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
  ])('the name %j is rejected, even for maintainers', async (name) => {
    const { verdict } = await evaluateChange(fresh(name), { author: 'maria' })
    expect(verdict.kind).toBe('blocked')
  })
  test('a file that differs from another only by case is rejected', async () => {
    const { rules } = await evaluateChange({ 'operators/mine/CI.yaml': 'x: y\n' })
    expect(rules).toContain('confusable-name')
  })
  test('a package name in content that belongs to another directory is rejected', async () => {
    const catalog = { [getCatalogPath('newdir')]: createCatalogYaml('victim', ['9.0.0']) }
    const { verdict, rules } = await evaluateChange(catalog, { author: 'maria' })
    expect(verdict.kind).toBe('blocked')
    expect(rules).toContain('package-content-mismatch')
  })
})

describe('the first catalogs of a repository', () => {
  const bare: OriginFiles = {
    'config.yaml': 'maintainers:\n  - maria\n',
    [getCiYamlPath('mine')]: createReviewersYaml('alice'),
    'tools/run.yaml': 'x: 1\n',
  }
  const first: OriginFiles = { ...bare, [getCatalogPath('mine')]: createCatalogYaml('mine', ['1.0.0']) }
  test('are detected as catalogs, and need a maintainer as author or approver', async () => {
    const byMaria = await evaluatePull(bare, first, { author: 'maria' })
    expect(byMaria.input.change.catalogs).toMatchObject([{ root: 'catalogs/v4.20' }])
    expect(byMaria.verdict.kind).toBe('merge')
    const { verdict, outcome } = await evaluatePull(bare, first, byAlice)
    expect(verdict.kind).toBe('wait')
    expect(outcome.findings[0]?.data).toMatchObject({ by: 'maintainer' })
    expect(outcome.findings.flatMap(({ data }) => data?.['kinds'] ?? [])).toContain('add-catalog')
  })
  test('cannot be in a directory in which the base has files', async () => {
    const taken = { ...bare, 'catalog/Makefile': 'all:\n' }
    const inside = { ...taken, 'catalog/mine/catalog.yaml': createCatalogYaml('mine', ['1.0.0']) }
    const { input, rules } = await evaluatePull(taken, inside, { author: 'maria' })
    expect(input.change.catalogs).toEqual([])
    expect(rules).toEqual(['outside-packages'])
  })
})

describe('T07: links, submodules, executables', () => {
  test.each([
    ['120000', { mode: '120000', content: '../../victim/catalog.yaml' }],
    ['160000', { mode: '160000', oid: 'a'.repeat(40) }],
  ])('mode %s is rejected, for a new file and for a changed one', async (mode, file) => {
    const path = 'operators/mine/notes.md'
    for (const before of [baseFiles, { ...baseFiles, [path]: 'x\n' }]) {
      const { verdict, outcome } = await evaluatePull(before, { ...before, [path]: file }, byAlice)
      expect(verdict.kind).toBe('blocked')
      expect(outcome.findings).toMatchObject([{ rule: 'file-mode', at: { file: path }, data: { mode } }])
    }
  })
  test('an executable bit is only an informational finding, because nothing runs the file', async () => {
    const path = 'operators/mine/notes.md'
    for (const before of [baseFiles, { ...baseFiles, [path]: 'x\n' }]) {
      const after = { ...before, [path]: { mode: '100755', content: 'x\n' } }
      const { verdict, outcome } = await evaluatePull(before, after, byAlice)
      expect(verdict.kind).toBe('merge')
      expect(outcome.findings).toMatchObject([
        { rule: 'executable-file', severity: 'info', at: { file: path } },
      ])
    }
  })
  test('an existing link can be changed into a regular file, or removed', async () => {
    const path = 'operators/mine/notes.md'
    const before = { ...baseFiles, [path]: { mode: '120000', content: '/etc/passwd' } }
    expect(await decidePull(before, { ...baseFiles, [path]: 'x\n' }, byAlice)).toBe('merge')
    expect(await decidePull(before, baseFiles, byAlice)).toBe('merge')
  })
  test('an owner file that is a link is broken and does not grant ownership', async () => {
    const linked = {
      ...baseFiles,
      [getCiYamlPath('mine')]: { mode: '120000', content: '../../operators/x.yaml' },
    }
    const { verdict, rules } = await evaluatePull(linked, { ...linked, ...authorPackageChanges }, byAlice)
    expect(verdict.kind).toBe('wait')
    expect(rules).toContain('owner-source-broken')
  })
})

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
])('T08: unusual paths: %j is rejected', async (path) => {
  const { verdict, rules } = await evaluateChange({ [path]: 'x\n' })
  expect(verdict.kind).toBe('blocked')
  expect(rules).toContain('odd-path')
})

describe('T09: files that change what other people see', () => {
  test.each([
    'operators/mine/.gitattributes',
    'catalogs/v4.20/mine/.gitattributes',
    'catalogs/v4.20/mine/.gitmodules',
    'operators/mine/.mailmap',
    'operators/mine/.gitignore',
    'operators/mine/.editorconfig',
    'operators/mine/.github/workflows/x.yml',
    'catalogs/v4.20/.indexignore',
  ])('%s belongs to the repository in any directory', async (path) => {
    const { verdict, rules } = await evaluateChange({ [path]: '* -diff\n' })
    expect(verdict.kind).toBe('wait')
    expect(rules).toContain('outside-packages')
  })
  test('attributes in the base do not change what is authorized', async () => {
    const attributes = { '.gitattributes': '* merge=ours -diff text eol=crlf filter=x ident export-subst\n' }
    const result = await evaluatePull(
      { ...baseFiles, ...attributes },
      { ...updatedFiles, ...attributes },
      byAlice,
    )
    expect(result.input.change.paths.map(({ path }) => path)).toEqual([getCatalogPath('mine')])
    expect(result.verdict.kind).toBe('merge')
  })
})

describe('T10: everything outside packages is merged manually', () => {
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
  test.each(outside)('%s, in an update that is otherwise allowed', async (path) => {
    for (const author of ['alice', 'maria']) {
      const { verdict, rules, outcome } = await evaluateChange(
        { ...authorPackageChanges, [path]: '# x\n' },
        { author },
      )
      expect(verdict.kind).toBe('wait')
      expect(rules).toContain('outside-packages')
      expect(outcome.waiting.at(-1)?.what).toContain('manually')
    }
  })
  test('no approval makes catalog-bot merge it', async () => {
    const from = origin.commit(baseFiles)
    const head = origin.commit({ ...baseFiles, Makefile: 'x\n' }, [from])
    const reviews = ['maria', 'vera', 'alan'].map((login) => createReview(login, head))
    expect(await verdictOf(from, head, { author: 'alice', reviews })).toBe('wait')
  })
})

describe('T11: both content and location decide', () => {
  const mine = createCatalogYaml('mine', ['1.0.0'])
  test.each([
    ['a channel', `---\nschema: olm.channel\nname: evil\npackage: victim\nentries: []\n`],
    ['a bundle', `---\nschema: olm.bundle\nname: victim.v6\npackage: victim\nimage: x\n`],
    ['a deprecation', `---\nschema: olm.deprecations\npackage: victim\nentries: []\n`],
    ['a package', `---\nschema: olm.package\nname: victim\ndefaultChannel: evil\n`],
    ['any other blob', `---\nschema: custom.note\nname: n\npackage: victim\n`],
  ])("%s of another package in the author's file is rejected", async (_, blob) => {
    const result = await evaluateChange({ [getCatalogPath('mine')]: mine + blob })
    expect(result.verdict.kind).toBe('blocked')
    expect(
      result.outcome.findings.find(({ rule }) => rule === 'package-content-mismatch')?.data,
    ).toMatchObject({ package: 'victim', home: 'victim' })
    expect(result.outcome.findings.find(({ rule }) => rule === 'not-owner')?.data).toMatchObject({
      package: 'victim',
    })
  })
  test("removing blobs of another package from the author's file waits for the package's owner", async () => {
    const split = {
      ...baseFiles,
      [getCatalogPath('mine')]:
        `${mine}---\nschema: olm.channel\nname: extra\npackage: victim\nentries: []\n`,
    }
    const result = await evaluatePull(split, baseFiles, byAlice)
    expect(result.verdict.kind).toBe('wait')
    expect(result.outcome.findings[0]?.data).toMatchObject({ package: 'victim' })
  })
  test("a bundle with the name of another package's bundle is rejected", async () => {
    const taken = createCatalogYaml('mine', ['1.0.0', '1.1.0']).replaceAll('mine.v1.1.0', 'victim.v1.1.0')
    const { rules, verdict } = await evaluateChange({ [getCatalogPath('mine')]: taken })
    expect(verdict.kind).toBe('blocked')
    expect(rules).toContain('package-content-mismatch')
  })
  test('a directory with a package of another name still belongs to its owner (2.1)', async () => {
    for (const [directory, name] of [
      ['konflux', 'konflux-operator'],
      ['isovalent-networking', 'clife'],
      ['eda-openshift-operator', 'eda-k8s-operator'],
    ] as const) {
      const before = {
        ...baseFiles,
        [getCiYamlPath(directory)]: createReviewersYaml('nina'),
        [getCatalogPath(directory)]: createCatalogYaml(name, ['1.0.0']),
      }
      const after = { ...before, [getCatalogPath(directory)]: createCatalogYaml(name, ['1.0.0', '1.1.0']) }
      expect(await decidePull(before, after, { author: 'nina' })).toBe('merge')
      expect(await decidePull(before, after, { author: 'mallory' })).toBe('wait')
      // The owner can also add it to another catalog if the packages of the directory are known.
      const more = { ...before, [getCatalogPath('victim', 'v4.21')]: createCatalogYaml('victim', ['1.0.0']) }
      const promoted = { ...more, [getCatalogPath(directory, 'v4.21')]: createCatalogYaml(name, ['1.0.0']) }
      const packagesByDirectory = new Map([[directory, [name]]])
      expect(await decidePull(more, promoted, { author: 'nina', packagesByDirectory })).toBe('merge')
      expect(await decidePull(more, promoted, { author: 'nina' })).toBe('wait')
    }
  })
  test("content of another package that an .indexignore exposes is rejected, and hiding it waits for the package's owner", async () => {
    const directory = 'catalogs/v4.20/mine'
    const channel = { [`${directory}/more.yaml`]: 'schema: olm.channel\nname: evil\npackage: victim\n' }
    const hiddenFiles = { ...baseFiles, ...channel, [`${directory}/.indexignore`]: 'more.yaml\n' }
    const exposedFiles = { ...baseFiles, ...channel }
    const overriddenFiles = { ...hiddenFiles, [`${directory}/.indexignore`]: 'more.yaml\n!more.yaml\n' }
    const reader = { read: async (bytes: Uint8Array) => parseCatalogFile(bytes), close: async () => {} }
    const evaluateByAlice = async (before: OriginFiles, after: OriginFiles) => {
      const base = origin.commit(before)
      const head = origin.commit(after, [base])
      await scenario.fetchPull(base, head)
      const snapshot = createTestPullSnapshot({ author: fakeAccounts.person('alice'), base, head })
      const loader = createCatalogLoader(reader, noopCache)
      const { outcomes } = (await scenario.evaluateSnapshot(snapshot, { loader })).verdict
      const { waiting = [], findings = [] } = outcomes.find(({ check }) => check === 'ownership') ?? {}
      const isRejected = findings.some(({ rule }) => rule === 'package-content-mismatch')
      return [...waiting.map(({ what }) => what), ...(isRejected ? ['rejected'] : [])]
    }
    expect(await evaluateByAlice(baseFiles, hiddenFiles)).toEqual([])
    const expected = ['an owner of victim must approve', 'rejected']
    expect(await evaluateByAlice(hiddenFiles, exposedFiles)).toEqual(expected)
    expect(await evaluateByAlice(hiddenFiles, overriddenFiles)).toEqual(expected)
    // A file that only the catalog reads as content.
    const ownersFile = { [`${directory}/OWNERS`]: 'schema: olm.channel\nname: evil\npackage: victim\n' }
    expect(await evaluateByAlice(baseFiles, { ...baseFiles, ...ownersFile })).toContain(
      'an owner of victim must approve',
    )
    expect(await evaluateByAlice(exposedFiles, hiddenFiles)).toEqual([
      'a maintainer must approve the change to victim',
    ])
  })
  test('removing a file with content of another package requires the consent of its owner', async () => {
    const result = await evaluatePull(
      { ...baseFiles, 'catalogs/v4.20/index.yaml': 'schema: custom.note\nname: n\npackage: victim\n' },
      baseFiles,
      byAlice,
    )
    expect(result.verdict.kind).toBe('wait')
    expect(listPackagesWithFindings(result)).toEqual(['victim'])
  })
})

test('T12: mutable references are evaluated by the images check, and a reference by tag changes no permissions', async () => {
  const byTag = {
    ...updatedFiles,
    [getCatalogPath('mine')]: (authorPackageChanges[getCatalogPath('mine')] ?? '').replace(
      /@sha256:0+(?![^]*@sha256)/,
      ':latest',
    ),
  }
  const first = await evaluateChange(authorPackageChanges, { author: 'mallory' })
  const second = await evaluatePull(baseFiles, byTag, { author: 'mallory' })
  expect(second.outcome.waiting).toEqual(first.outcome.waiting)
})

test('T13: two changes that are safe separately: the second is evaluated against the result of the first, not against its original base', async () => {
  const root = origin.commit(baseFiles)
  const first = origin.commit({ ...baseFiles, [getCiYamlPath('victim')]: createReviewersYaml('nina') }, [
    root,
  ])
  const second = origin.commit(
    { ...baseFiles, [getCatalogPath('victim')]: createCatalogYaml('victim', ['1.0.0', '1.1.0', '1.2.0']) },
    [root],
  )
  expect(await verdictOf(root, second, { author: 'vera' })).toBe('merge')
  expect(await verdictOf(first, second, { author: 'vera' })).toBe('wait')
  expect(await verdictOf(first, second, { author: 'nina' })).toBe('merge')
})

describe('T14: what is merged is not what the pull request shows', () => {
  test('an edit of a file that the base has moved to another owner', async () => {
    const root = origin.commit({ ...baseFiles, 'operators/mine/x.yaml': createNumberedLines('line', 100) })
    const head = origin.commit(
      { ...baseFiles, 'operators/mine/x.yaml': createNumberedLines('line', 100, 50) },
      [root],
    )
    const tip = origin.commit({ ...baseFiles, 'operators/victim/x.yaml': createNumberedLines('line', 100) }, [
      root,
    ])
    const result = await scenario.evaluate(tip, head, byAlice)
    // The merge reports a conflict, or it follows the move and changes the victim's file.
    expect(result.verdict.kind).not.toBe('merge')
    if (result.verdict.kind === 'wait')
      expect(result.input.change.paths.map(({ path }) => path)).toEqual(['operators/victim/x.yaml'])
  })
  test('a new file in a directory that the base has renamed', async () => {
    const files = (directory: string): OriginFiles =>
      Object.fromEntries(
        [1, 2, 3].map((at) => [`operators/${directory}/deep/${at}.md`, createNumberedLines(`n${at}`, 30)]),
      )
    const root = origin.commit({ ...baseFiles, ...files('mine') })
    const head = origin.commit({ ...baseFiles, ...files('mine'), 'operators/mine/deep/new.md': 'x\n' }, [
      root,
    ])
    const tip = origin.commit({ ...baseFiles, ...files('victim') }, [root])
    const result = await scenario.evaluate(tip, head, byAlice)
    // Git reports a conflict or moves the file, but it must not put the file into the victim's directory unnoticed.
    if (result.verdict.kind === 'merge')
      expect(result.input.change.paths.map(({ path }) => path)).toEqual(['operators/mine/deep/new.md'])
    else expect(['blocked', 'wait']).toContain(result.verdict.kind)
  })
  test('a criss-cross history that silently reverts the victim', async () => {
    const v = (version: string) => ({
      ...baseFiles,
      [getCatalogPath('victim')]: createCatalogYaml('victim', ['1.0.0', version]),
    })
    const note = { 'operators/mine/notes.md': 'x\n' }
    const root = origin.commit(v('1.1.0'))
    const p1 = origin.commit({ ...v('1.1.0'), ...note }, [root])
    const m1 = origin.commit(v('1.2.0'), [root])
    const m2 = origin.commit({ ...v('1.2.0'), ...note }, [m1, p1])
    const p2 = origin.commit({ ...v('1.1.0'), ...note }, [p1, m1])
    const head = origin.commit({ ...v('1.1.0'), ...note, 'operators/mine/more.md': 'x\n' }, [p2])
    expect(await verdictOf(m2, head, byAlice)).not.toBe('merge')
  })
})

describe('T15: changes inside merge commits', () => {
  test("an edit of another owner's file in a merge of the base is found", async () => {
    const root = origin.commit(baseFiles)
    const own = origin.commit(updatedFiles, [root])
    const tip = origin.commit({ ...baseFiles, 'operators/victim/notes.md': 'x\n' }, [root])
    const evil = origin.commit({ ...updatedFiles, 'operators/victim/notes.md': 'evil\n' }, [own, tip])
    const result = await scenario.evaluate(tip, evil, byAlice)
    expect(result.verdict.kind).toBe('wait')
    expect(listPackagesWithFindings(result)).toEqual(['victim'])
  })
  test('the shape of the history does not change the verdict', async () => {
    const root = origin.commit(baseFiles)
    const one = origin.commit(updatedFiles, [root])
    const empty = origin.commit(updatedFiles, [origin.commit(baseFiles, [root])], {
      author: 'vera <vera@example.com>',
    })
    for (const head of [one, empty]) expect(await verdictOf(root, head, byAlice)).toBe('merge')
  })
  test('an approval is carried over only if configured, for the same content, config, and base', async () => {
    const carryOverConfig = { '.github/catalog-bot.yml': 'approvals:\n  carryOver: true\n' }
    for (const [extra, expected] of [
      [{}, 'wait'],
      [carryOverConfig, 'merge'],
    ] as const) {
      const root = origin.commit({ ...baseFiles, ...extra })
      const first = origin.commit({ ...updatedFiles, ...extra }, [root])
      const earlier = await scenario.evaluate(root, first, {
        author: 'mallory',
        configDigest: 'c',
        reviews: [createReview('alan', first)],
      })
      expect(earlier.verdict.kind).toBe('merge')
      const { getApprovalCoverageOfChange: coverage } =
        await import('../../../src/checks/ownership/ownership-context.ts')
      const approvals = earlier.input.approvals.map((approval) => ({
        ...approval,
        config: 'c',
        covers: coverage(earlier.input),
      }))
      const same = origin.commit({ ...updatedFiles, ...extra }, [first])
      const evaluate = (head: typeof same, more = {}) =>
        scenario.evaluate(root, head, { author: 'mallory', approvals, epoch: 1, configDigest: 'c', ...more })
      expect((await evaluate(same)).verdict.kind).toBe(expected)
      const other = origin.commit({ ...updatedFiles, ...extra, 'operators/mine/notes.md': 'x\n' }, [first])
      expect((await evaluate(other)).verdict.kind).toBe('wait')
      expect((await evaluate(same, { configDigest: 'd' })).verdict.kind).toBe('wait')
      expect((await evaluate(same, { snapshot: { baseRef: 'release' } })).verdict.kind).toBe('wait')
    }
  })
})

test('T16: a permit is for one commit with one tree: the permit contains the merge commit with the authorized tree', async () => {
  const { verdict } = await evaluateChange(authorPackageChanges)
  expect(verdict.permit?.merge.commit).toBe(verdict.result?.commit)
  expect(verdict.permit?.merge.tree).toBe(origin.tree(origin.commit(updatedFiles)))
})

test('T17: stacked pull requests wait for the one below them', async () => {
  const { verdict } = await evaluateChange(authorPackageChanges, {
    author: 'alice',
    snapshot: { stacked: true },
  })
  expect(verdict).toMatchObject({ kind: 'wait', reasons: [{ code: 'stacked' }] })
})

test('T18: another base branch: an approval for one branch does not count for another', async () => {
  const from = origin.commit(baseFiles)
  const head = origin.commit(updatedFiles, [from])
  const earlier = await scenario.evaluate(from, head, {
    author: 'mallory',
    reviews: [createReview('alan', head)],
  })
  expect(earlier.verdict.kind).toBe('merge')
  const { approvals } = earlier.input
  const retargeted = { author: 'mallory', approvals, snapshot: { baseRef: 'release' } }
  expect(await verdictOf(from, head, retargeted)).toBe('wait')
  expect(await verdictOf(from, head, { author: 'mallory', approvals, epoch: 2 })).toBe('wait')
})
