// The people who are asked for an open approval: only those who can give it, and each only once.
import { afterAll, expect, test } from '@jest/globals'
import type { OriginFiles } from '../../adapters/git/origin.ts'
import { createCatalogYaml } from './read-catalog-text.ts'
import { createOwnershipScenario } from './ownership-scenario.ts'

const scenario = await createOwnershipScenario('asked')
for (const login of ['alice', 'olga', 'vera', 'maria', 'mallory']) scenario.fakeAccounts.person(login)
afterAll(() => scenario.close())

const getCatalogPath = (name: string) => `catalogs/v4.20/${name}/catalog.yaml`
const createPackageFiles = (name: string, ...people: string[]): OriginFiles => ({
  [`operators/${name}/ci.yaml`]: `reviewers: [${people.join(', ')}]\n`,
  [getCatalogPath(name)]: createCatalogYaml(name, ['1.0.0']),
})
const createFilesWithAddedBundles = (...names: string[]): OriginFiles =>
  Object.fromEntries(names.map((name) => [getCatalogPath(name), createCatalogYaml(name, ['1.0.0', '1.1.0'])]))

async function findApprovers(base: OriginFiles, change: OriginFiles, author = 'mallory') {
  const all = { 'config.yaml': 'maintainers: [maria]\n', ...base }
  const { verdict, outcome } = await scenario.evaluatePull(all, { ...all, ...change }, { author })
  expect(verdict.kind).toBe('wait')
  return { waiting: outcome.waiting, findings: outcome.findings }
}

test('an approval is requested from another owner, or else from a maintainer', async () => {
  const joins = (...people: string[]) => ({ 'operators/foo/ci.yaml': `reviewers: [${people.join(', ')}]\n` })
  expect(
    (await findApprovers(createPackageFiles('foo', 'alice', 'vera'), joins('alice', 'vera', 'olga'), 'alice'))
      .waiting,
  ).toEqual([{ what: 'an owner of foo must approve', who: ['vera'] }])
  expect(
    (await findApprovers(createPackageFiles('foo', 'alice'), joins('alice', 'olga'), 'alice')).waiting,
  ).toEqual([{ what: 'a maintainer must approve the change to foo', who: ['maria'] }])
})

test('a change to a blob without a package is not named by its empty package', async () => {
  const blob = { 'catalogs/v4.20/foo/notes.yaml': 'schema: example.notes\nname: notes\n' }
  const { waiting } = await findApprovers(createPackageFiles('foo', 'alice'), blob)
  expect(waiting.map(({ what }) => what)).toContain('a maintainer must approve this change')
})

test('a person who can give several approvals is asked only once', async () => {
  const base = { ...createPackageFiles('foo', 'maria', 'olga'), ...createPackageFiles('bar', 'maria') }
  const { waiting } = await findApprovers(base, createFilesWithAddedBundles('foo', 'bar'))
  expect(waiting).toEqual([{ what: 'an owner of bar, foo must approve', who: ['maria'] }])
  // A person who can give only some of the approvals does not replace the owners of the others.
  const two = { ...createPackageFiles('foo', 'olga', 'vera'), ...createPackageFiles('bar', 'olga', 'alice') }
  expect(
    (await findApprovers(two, createFilesWithAddedBundles('foo', 'bar'))).waiting.map(({ who }) => who),
  ).toEqual([
    ['olga', 'alice'],
    ['olga', 'vera'],
  ])
})

test('only a maintainer is asked if a maintainer must also approve another change', async () => {
  const base = createPackageFiles('foo', 'maria', 'olga')
  const { waiting } = await findApprovers(base, {
    ...createFilesWithAddedBundles('foo'),
    ...createPackageFiles('new', 'mallory'),
  })
  expect(waiting.map(({ who }) => who)).toEqual([['maria']])
  expect(waiting[0]?.what).toBe('a maintainer must approve the change to new, foo')
})
