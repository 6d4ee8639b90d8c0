// No sequence of pull requests by people without permissions is merged without a person who has them. The oracle only
// knows the actual state (who was listed where before each merge), not how the check decides.
import { describe, expect, test } from '@jest/globals'
import fc from '../../seeded.ts'
import type { PullReview } from '../../../src/pull-request/snapshot.ts'
import { createApprovalsFromReviews } from '../../../src/checks/ownership/approvals.ts'
import { getApprovalCoverageOfChange } from '../../../src/checks/ownership/ownership-context.ts'
import { selectOwnerFilePathsToRead } from '../../../src/checks/ownership/owner-files.ts'
import type { CheckInput } from '../../../src/checks/check.ts'
import { configPath } from '../../../src/config/config-path.ts'
import { parseConfig } from '../../../src/config/config.ts'
import { decideVerdict } from '../../../src/policy/decide.ts'
import {
  buildBundleBlob,
  computeCatalogChange,
  buildChannelBlob,
  buildPackageBlob,
  formatCatalogFileText,
  type CatalogBlob,
  type CatalogFiles,
} from '../../pull-request/build-catalog.ts'
import {
  createVerdictInput,
  createTestPullSnapshot,
  createOutcomesForAllChecks,
} from '../../policy/verdict-inputs.ts'
import { evaluateOwnershipInput, FakeGitHubAccounts } from './ownership-scenario.ts'

const userNames = ['ann', 'amy', 'bob', 'max', 'eve', 'mal'] as const
type UserName = (typeof userNames)[number]
const untrustedUserNames: readonly UserName[] = ['eve', 'mal']
const packageNames = ['foo', 'bar'] as const

const fakeGitHubAccounts = new FakeGitHubAccounts()
for (const user of userNames) fakeGitHubAccounts.person(user)

interface SimulatedRepositoryState {
  readonly files: CatalogFiles
  readonly owners: Readonly<Record<string, readonly UserName[]>>
}

const initialRepositoryState: SimulatedRepositoryState = createRepositoryState(
  {
    'config.yaml': 'maintainers: [max]\n',
    'catalog/foo/catalog.yaml': createCatalogBlobs('foo', 1),
    'catalog/bar/catalog.yaml': createCatalogBlobs('bar', 1),
    'operators/bar/notes.md': 'notes\n',
  },
  { foo: ['ann', 'amy'], bar: ['bob'] },
)

function createCatalogBlobs(name: string, versions: number): CatalogBlob[] {
  const names = Array.from({ length: versions }, (_, at) => `${name}.v${at + 1}`)
  return [
    buildPackageBlob(name),
    buildChannelBlob(
      'stable',
      name,
      names.map((entry, at) => (at === 0 ? entry : `${entry} < ${names[at - 1]}`)),
    ),
    ...names.map((entry, at) => buildBundleBlob(entry, name, `${at + 1}.0.0`)),
  ]
}
function createRepositoryState(
  files: CatalogFiles,
  owners: Readonly<Record<string, readonly UserName[]>>,
): SimulatedRepositoryState {
  const lists = Object.entries(owners).map(([name, list]) => [
    `operators/${name}/ci.yaml`,
    `reviewers: [${list.join(', ')}]\n`,
  ])
  return { files: { ...files, ...(Object.fromEntries(lists) as CatalogFiles) }, owners }
}

type RepositoryStateEdit = (state: SimulatedRepositoryState, author: UserName) => SimulatedRepositoryState
const countPackageVersions = (state: SimulatedRepositoryState, name: string) =>
  [...(state.files[`catalog/${name}/catalog.yaml`] ?? [])].filter(
    (blob) => (blob as CatalogBlob)['schema'] === 'olm.bundle',
  ).length
const updateRepositoryFiles = (
  state: SimulatedRepositoryState,
  files: CatalogFiles,
): SimulatedRepositoryState => ({ ...state, files: { ...state.files, ...files } })

const repositoryEditByName: Readonly<Record<string, RepositoryStateEdit>> = {
  'update foo': (state) =>
    updateRepositoryFiles(state, {
      'catalog/foo/catalog.yaml': createCatalogBlobs('foo', countPackageVersions(state, 'foo') + 1),
    }),
  'update bar': (state) =>
    updateRepositoryFiles(state, {
      'catalog/bar/catalog.yaml': createCatalogBlobs('bar', countPackageVersions(state, 'bar') + 1),
    }),
  'own foo': (state, author) =>
    createRepositoryState(state.files, {
      ...state.owners,
      foo: [...new Set([...(state.owners['foo'] ?? []), author])],
    }),
  'own bar': (state, author) =>
    createRepositoryState(state.files, {
      ...state.owners,
      bar: [...new Set([...(state.owners['bar'] ?? []), author])],
    }),
  'take bar': (state, author) => createRepositoryState(state.files, { ...state.owners, bar: [author] }),
  'give foo to eve': (state) =>
    createRepositoryState(state.files, {
      ...state.owners,
      foo: [...new Set([...(state.owners['foo'] ?? []), 'eve' as const])],
    }),
  'leave foo': (state, author) =>
    createRepositoryState(state.files, {
      ...state.owners,
      foo: (state.owners['foo'] ?? []).filter((user) => user !== author),
    }),
  'empty bar': (state) => createRepositoryState(state.files, { ...state.owners, bar: [] }),
  maintain: (state, author) =>
    updateRepositoryFiles(state, { 'config.yaml': `maintainers: [max, ${author}]\n` }),
  configure: (state, author) =>
    updateRepositoryFiles(state, { [configPath]: `owners: {maintainers: [${author}]}\n` }),
  'write CODEOWNERS': (state, author) => updateRepositoryFiles(state, { CODEOWNERS: `* @${author}\n` }),
  'write OWNERS': (state, author) =>
    updateRepositoryFiles(state, { 'catalog/bar/OWNERS': `approvers: [${author}]\n` }),
  'move notes': (state) => {
    const { 'operators/bar/notes.md': notes, ...rest } = state.files
    return notes === undefined ? state : { ...state, files: { ...rest, 'operators/foo/notes.md': notes } }
  },
  'speak for bar in foo': (state) =>
    updateRepositoryFiles(state, {
      'catalog/foo/catalog.yaml': [
        ...((state.files['catalog/foo/catalog.yaml'] as CatalogBlob[]) ?? []),
        buildChannelBlob('evil', 'bar', ['bar.v1']),
      ],
    }),
  'new package': (state, author) =>
    createRepositoryState(
      { ...state.files, 'catalog/baz/catalog.yaml': createCatalogBlobs('baz', 1) },
      { ...state.owners, baz: [author] },
    ),
  workflow: (state) => updateRepositoryFiles(state, { '.github/workflows/x.yml': 'on: push\n' }),
}

interface SimulatedPull {
  readonly author: UserName
  readonly edits: readonly string[]
  readonly approvedBy: readonly UserName[]
  readonly labels: readonly string[]
}
const pullSequenceArbitrary = fc.array(
  fc.record({
    author: fc.constantFrom(...userNames),
    edits: fc.uniqueArray(fc.constantFrom(...Object.keys(repositoryEditByName)), {
      minLength: 1,
      maxLength: 2,
    }),
    approvedBy: fc.uniqueArray(fc.constantFrom(...userNames), { maxLength: 2 }),
    labels: fc.uniqueArray(fc.constantFrom('approved', 'lgtm', 'triage'), { maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 8 },
)

function isPullMerged(
  state: SimulatedRepositoryState,
  result: SimulatedRepositoryState,
  pull: SimulatedPull,
): boolean {
  const change = computeCatalogChange(state.files, result.files)
  const basePaths = Object.keys(state.files).sort()
  const text = (files: CatalogFiles, path: string) => {
    const content = files[path]
    return content === undefined ? undefined : formatCatalogFileText(content)
  }
  const parsed = parseConfig(text(state.files, configPath))
  if (parsed.kind === 'unreadable') return false
  const head = createTestPullSnapshot().head
  const reviews = pull.approvedBy.map((user, at): PullReview => ({
    id: at + 1,
    author: fakeGitHubAccounts.person(user),
    state: 'approved',
    commit: head,
    submittedAt: `2026-01-01T00:00:0${at}Z`,
  }))
  const snapshot = createTestPullSnapshot({
    author: fakeGitHubAccounts.person(pull.author),
    reviews,
    labels: pull.labels,
  })
  const files = { base: new Map<string, string>(), result: new Map<string, string>() }
  for (const path of selectOwnerFilePathsToRead(basePaths, change)) {
    const before = text(state.files, path)
    if (before !== undefined) files.base.set(path, before)
    const after = text(result.files, path)
    if (after !== undefined) files.result.set(path, after)
  }
  const unapproved: CheckInput = {
    snapshot,
    config: parsed.config,
    layout: { catalogs: [{ root: 'catalog' }] },
    change,
    basePaths,
    ownerFiles: files,
    approvals: [],
  }
  const agreed = new Map(reviews.map(({ id }) => [id, getApprovalCoverageOfChange(unapproved)]))
  const approvals = createApprovalsFromReviews(snapshot, 0, new Map(), agreed)
  const { outcome, input } = evaluateOwnershipInput({ ...unapproved, approvals }, fakeGitHubAccounts)
  const differing = [...new Set([...basePaths, ...Object.keys(result.files)])].filter(
    (path) => text(state.files, path) !== text(result.files, path),
  )
  // The authorized paths are a superset of those that differ.
  expect(input.change.paths.map(({ path }) => path)).toEqual(expect.arrayContaining(differing))
  return (
    decideVerdict(
      createVerdictInput({
        snapshot,
        changedPaths: differing.length,
        outcomes: createOutcomesForAllChecks(outcome),
      }),
    ).kind === 'merge'
  )
}

interface SimulatedMerge {
  readonly pull: SimulatedPull
  readonly before: SimulatedRepositoryState
  readonly after: SimulatedRepositoryState
}
function simulateMerges(history: readonly SimulatedPull[]): readonly SimulatedMerge[] {
  const merges: SimulatedMerge[] = []
  let state = initialRepositoryState
  for (const pull of history) {
    const result = pull.edits.reduce(
      (now, edit) => repositoryEditByName[edit]?.(now, pull.author) ?? now,
      state,
    )
    if (!isPullMerged(state, result, pull)) continue
    merges.push({ pull, before: state, after: result })
    state = result
  }
  return merges
}

/** Whether one of `voices` had permission for a package before the merge, through its ci.yaml or its OWNERS file. */
const hasPackageMergePermission = (
  voices: readonly UserName[],
  before: SimulatedRepositoryState,
  name: string,
) =>
  voices.some(
    (user) =>
      user === 'max' ||
      (before.owners[name] ?? []).includes(user) ||
      parseOwnersFileApprovers(before, name).includes(user),
  )
function parseOwnersFileApprovers({ files }: SimulatedRepositoryState, name: string): readonly string[] {
  const text = files[`catalog/${name}/OWNERS`]
  return typeof text === 'string'
    ? (/^approvers: \[(?<names>.*)\]$/m.exec(text)?.groups?.names ?? '').split(', ')
    : []
}
const getAuthorAndApprovers = ({ author, approvedBy }: SimulatedPull): readonly UserName[] => [
  author,
  ...approvedBy,
]

const propertyTestOptions = { numRuns: 150 }

describe('any sequence of pull requests', () => {
  test('I3, I5, I9, I10: an owner or a maintainer agreed to every merged change and every new owner', () => {
    fc.assert(
      fc.property(pullSequenceArbitrary, (history) => {
        for (const { pull, before, after } of simulateMerges(history)) {
          const paths = [...new Set([...Object.keys(before.files), ...Object.keys(after.files)])].filter(
            (path) =>
              formatCatalogFileText(before.files[path] ?? '') !==
              formatCatalogFileText(after.files[path] ?? ''),
          )
          for (const path of paths) {
            const name = /^(?:catalog|operators)\/([^/.]+)\//.exec(path)?.[1]
            expect(name).toBeDefined()
            expect(hasPackageMergePermission(getAuthorAndApprovers(pull), before, name ?? '')).toBe(true)
          }
          // The same is true for the packages that the content belongs to.
          for (const name of packageNames)
            if (countPackageVersions(before, name) !== countPackageVersions(after, name))
              expect(hasPackageMergePermission(getAuthorAndApprovers(pull), before, name)).toBe(true)
          expect(formatCatalogFileText(after.files['catalog/foo/catalog.yaml'] ?? '')).not.toContain('"evil"')
          // I5, I10: every new owner has the consent of an owner or a maintainer other than themselves.
          for (const [name, owners] of Object.entries(after.owners))
            for (const user of owners.filter((owner) => !(before.owners[name] ?? []).includes(owner))) {
              const others = getAuthorAndApprovers(pull).filter((voice) => voice !== user)
              const consent = others.some(
                (voice) =>
                  voice === 'max' ||
                  ((before.owners[name] ?? []).includes(voice) &&
                    pull.approvedBy.includes(voice) &&
                    voice !== pull.author),
              )
              expect(consent).toBe(true)
            }
        }
      }),
      propertyTestOptions,
    )
  })

  test('I7: approvals by people without permissions do not change what is merged', () => {
    // Histories in which untrusted users never become owners, so that they have no permissions at any time.
    const noGrants = (history: readonly SimulatedPull[]) =>
      history.filter(
        ({ author, edits: made }) =>
          !made.includes('give foo to eve') &&
          !(untrustedUserNames.includes(author) && made.some((edit) => /^(?:own|take|new|write)/.test(edit))),
      )
    fc.assert(
      fc.property(pullSequenceArbitrary, (made) => {
        const history = noGrants(made)
        const quiet = history.map((pull) => ({
          ...pull,
          approvedBy: pull.approvedBy.filter((user) => !untrustedUserNames.includes(user)),
        }))
        const formatMerges = (merges: readonly SimulatedMerge[]) =>
          merges.map(({ pull, after }) => [pull.author, pull.edits, after.owners])
        expect(formatMerges(simulateMerges(history))).toEqual(formatMerges(simulateMerges(quiet)))
        // Their pull requests are merged only with approvals of others, so without those none is merged.
        const alone = simulateMerges(
          history.map((pull) => ({
            ...pull,
            approvedBy: pull.approvedBy.filter((user) => untrustedUserNames.includes(user)),
          })),
        )
        expect(alone.filter(({ pull }) => untrustedUserNames.includes(pull.author))).toEqual([])
      }),
      propertyTestOptions,
    )
  })

  test('I8: no label changes which pull requests are merged', () => {
    fc.assert(
      fc.property(pullSequenceArbitrary, (history) => {
        const bare = simulateMerges(history.map((pull) => ({ ...pull, labels: [] })))
        expect(simulateMerges(history).map(({ pull }) => pull.edits)).toEqual(
          bare.map(({ pull }) => pull.edits),
        )
      }),
      { numRuns: 60 },
    )
  })

  test('updates by owners and approved changes of owners are merged', () => {
    const merges = simulateMerges([
      { author: 'ann', edits: ['update foo'], approvedBy: [], labels: [] },
      { author: 'eve', edits: ['update bar'], approvedBy: ['bob'], labels: [] },
      { author: 'eve', edits: ['own bar'], approvedBy: ['bob'], labels: [] },
      { author: 'eve', edits: ['update bar'], approvedBy: [], labels: [] },
      { author: 'mal', edits: ['new package'], approvedBy: ['max'], labels: [] },
    ])
    expect(merges.length).toBe(5)
  })
})
