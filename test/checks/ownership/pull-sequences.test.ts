// No sequence of pull requests by people without permissions is merged without a person who has them. The oracle only
// knows the actual state (who was listed where before each merge), not how the check decides.
import { describe, expect, test } from '@jest/globals'
import fc from '../../seeded.ts'
import type { PullReview } from '../../../src/pull-request/snapshot.ts'
import {
  createApprovalsFromReviews,
  computeChangeApprovalCoverage,
  selectOwnerFilePathsToRead,
} from '../../../src/checks/ownership/ownership.ts'
import type { CheckInput } from '../../../src/checks/check.ts'
import { configPath } from '../../../src/config/config-path.ts'
import { parseConfig } from '../../../src/config/config.ts'
import { decideVerdict } from '../../../src/policy/decide.ts'
import {
  bundleBlob,
  computeCatalogChange,
  channelBlob,
  packageBlob,
  formatFileText,
  type CatalogBlob,
  type CatalogFiles,
} from '../../pull-request/build-catalog.ts'
import { createGateInput, createSnapshot, createCheckOutcomesWith } from '../../policy/gate-builders.ts'
import { evaluateOwnershipInput, FakeAccounts } from './ownership-scenario.ts'

const userNames = ['ann', 'amy', 'bob', 'max', 'eve', 'mal'] as const
type UserName = (typeof userNames)[number]
const untrustedUsers: readonly UserName[] = ['eve', 'mal']
const packageNames = ['foo', 'bar'] as const

const accounts = new FakeAccounts()
for (const user of userNames) accounts.person(user)

interface SimulatedRepositoryState {
  readonly files: CatalogFiles
  readonly owners: Readonly<Record<string, readonly UserName[]>>
}

const initialState: SimulatedRepositoryState = createRepositoryState(
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
    packageBlob(name),
    channelBlob(
      'stable',
      name,
      names.map((entry, at) => (at === 0 ? entry : `${entry} < ${names[at - 1]}`)),
    ),
    ...names.map((entry, at) => bundleBlob(entry, name, `${at + 1}.0.0`)),
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
const countVersions = (state: SimulatedRepositoryState, name: string) =>
  [...(state.files[`catalog/${name}/catalog.yaml`] ?? [])].filter(
    (blob) => (blob as CatalogBlob)['schema'] === 'olm.bundle',
  ).length
const updateFiles = (state: SimulatedRepositoryState, files: CatalogFiles): SimulatedRepositoryState => ({
  ...state,
  files: { ...state.files, ...files },
})

const editByName: Readonly<Record<string, RepositoryStateEdit>> = {
  'update foo': (state) =>
    updateFiles(state, {
      'catalog/foo/catalog.yaml': createCatalogBlobs('foo', countVersions(state, 'foo') + 1),
    }),
  'update bar': (state) =>
    updateFiles(state, {
      'catalog/bar/catalog.yaml': createCatalogBlobs('bar', countVersions(state, 'bar') + 1),
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
  maintain: (state, author) => updateFiles(state, { 'config.yaml': `maintainers: [max, ${author}]\n` }),
  configure: (state, author) => updateFiles(state, { [configPath]: `owners: {maintainers: [${author}]}\n` }),
  'write CODEOWNERS': (state, author) => updateFiles(state, { CODEOWNERS: `* @${author}\n` }),
  'write OWNERS': (state, author) => updateFiles(state, { 'catalog/bar/OWNERS': `approvers: [${author}]\n` }),
  'move notes': (state) => {
    const { 'operators/bar/notes.md': notes, ...rest } = state.files
    return notes === undefined ? state : { ...state, files: { ...rest, 'operators/foo/notes.md': notes } }
  },
  'speak for bar in foo': (state) =>
    updateFiles(state, {
      'catalog/foo/catalog.yaml': [
        ...((state.files['catalog/foo/catalog.yaml'] as CatalogBlob[]) ?? []),
        channelBlob('evil', 'bar', ['bar.v1']),
      ],
    }),
  'new package': (state, author) =>
    createRepositoryState(
      { ...state.files, 'catalog/baz/catalog.yaml': createCatalogBlobs('baz', 1) },
      { ...state.owners, baz: [author] },
    ),
  workflow: (state) => updateFiles(state, { '.github/workflows/x.yml': 'on: push\n' }),
}

interface SimulatedPull {
  readonly author: UserName
  readonly edits: readonly string[]
  readonly approvedBy: readonly UserName[]
  readonly labels: readonly string[]
}
const randomPulls = fc.array(
  fc.record({
    author: fc.constantFrom(...userNames),
    edits: fc.uniqueArray(fc.constantFrom(...Object.keys(editByName)), { minLength: 1, maxLength: 2 }),
    approvedBy: fc.uniqueArray(fc.constantFrom(...userNames), { maxLength: 2 }),
    labels: fc.uniqueArray(fc.constantFrom('approved', 'lgtm', 'triage'), { maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 8 },
)

function isMerged(
  state: SimulatedRepositoryState,
  result: SimulatedRepositoryState,
  pull: SimulatedPull,
): boolean {
  const change = computeCatalogChange(state.files, result.files)
  const basePaths = Object.keys(state.files).sort()
  const text = (files: CatalogFiles, path: string) => {
    const content = files[path]
    return content === undefined ? undefined : formatFileText(content)
  }
  const parsed = parseConfig(text(state.files, configPath))
  if (parsed.kind === 'unreadable') return false
  const head = createSnapshot().head
  const reviews = pull.approvedBy.map((user, at): PullReview => ({
    id: at + 1,
    author: accounts.person(user),
    state: 'approved',
    commit: head,
    submittedAt: `2026-01-01T00:00:0${at}Z`,
  }))
  const snapshot = createSnapshot({ author: accounts.person(pull.author), reviews, labels: pull.labels })
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
  const agreed = new Map(reviews.map(({ id }) => [id, computeChangeApprovalCoverage(unapproved)]))
  const approvals = createApprovalsFromReviews(snapshot, 0, new Map(), agreed)
  const { outcome, input } = evaluateOwnershipInput({ ...unapproved, approvals }, accounts)
  const differing = [...new Set([...basePaths, ...Object.keys(result.files)])].filter(
    (path) => text(state.files, path) !== text(result.files, path),
  )
  // The authorized paths are a superset of those that differ.
  expect(input.change.paths.map(({ path }) => path)).toEqual(expect.arrayContaining(differing))
  return (
    decideVerdict(
      createGateInput({
        snapshot,
        changedPaths: differing.length,
        outcomes: createCheckOutcomesWith(outcome),
      }),
    ).kind === 'merge'
  )
}

interface SimulatedMerge {
  readonly pull: SimulatedPull
  readonly before: SimulatedRepositoryState
  readonly after: SimulatedRepositoryState
}
function mergePulls(history: readonly SimulatedPull[]): readonly SimulatedMerge[] {
  const merges: SimulatedMerge[] = []
  let state = initialState
  for (const pull of history) {
    const result = pull.edits.reduce((now, edit) => editByName[edit]?.(now, pull.author) ?? now, state)
    if (!isMerged(state, result, pull)) continue
    merges.push({ pull, before: state, after: result })
    state = result
  }
  return merges
}

/** Whether one of `voices` had permission for a package before the merge, through its ci.yaml or its OWNERS file. */
const hasMergeRight = (voices: readonly UserName[], before: SimulatedRepositoryState, name: string) =>
  voices.some(
    (user) =>
      user === 'max' ||
      (before.owners[name] ?? []).includes(user) ||
      parseOwnersApprovers(before, name).includes(user),
  )
function parseOwnersApprovers({ files }: SimulatedRepositoryState, name: string): readonly string[] {
  const text = files[`catalog/${name}/OWNERS`]
  return typeof text === 'string'
    ? (/^approvers: \[(?<names>.*)\]$/m.exec(text)?.groups?.names ?? '').split(', ')
    : []
}
const getAuthorAndApprovers = ({ author, approvedBy }: SimulatedPull): readonly UserName[] => [
  author,
  ...approvedBy,
]

const fuzzOptions = { numRuns: 150 }

describe('any sequence of pull requests', () => {
  test('I3, I9: every merged change is in packages, and an owner or a maintainer of each agreed', () => {
    fc.assert(
      fc.property(randomPulls, (history) => {
        for (const { pull, before, after } of mergePulls(history)) {
          const paths = [...new Set([...Object.keys(before.files), ...Object.keys(after.files)])].filter(
            (path) => formatFileText(before.files[path] ?? '') !== formatFileText(after.files[path] ?? ''),
          )
          for (const path of paths) {
            const name = /^(?:catalog|operators)\/([^/.]+)\//.exec(path)?.[1]
            expect(name).toBeDefined()
            expect(hasMergeRight(getAuthorAndApprovers(pull), before, name ?? '')).toBe(true)
          }
          // The same is true for the packages that the content belongs to.
          for (const name of packageNames)
            if (countVersions(before, name) !== countVersions(after, name))
              expect(hasMergeRight(getAuthorAndApprovers(pull), before, name)).toBe(true)
          expect(formatFileText(after.files['catalog/foo/catalog.yaml'] ?? '')).not.toContain('"evil"')
        }
      }),
      fuzzOptions,
    )
  }, 120_000)

  test('I5, I10: every new owner has the consent of an owner or a maintainer other than themselves', () => {
    fc.assert(
      fc.property(randomPulls, (history) => {
        for (const { pull, before, after } of mergePulls(history))
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
      }),
      fuzzOptions,
    )
  }, 120_000)

  test('I7: approvals by people without permissions do not change what is merged', () => {
    // Histories in which untrusted users never become owners, so that they have no permissions at any time.
    const noGrants = (history: readonly SimulatedPull[]) =>
      history.filter(
        ({ author, edits: made }) =>
          !made.includes('give foo to eve') &&
          !(untrustedUsers.includes(author) && made.some((edit) => /^(?:own|take|new|write)/.test(edit))),
      )
    fc.assert(
      fc.property(randomPulls, (made) => {
        const history = noGrants(made)
        const quiet = history.map((pull) => ({
          ...pull,
          approvedBy: pull.approvedBy.filter((user) => !untrustedUsers.includes(user)),
        }))
        const formatMerges = (merges: readonly SimulatedMerge[]) =>
          merges.map(({ pull, after }) => [pull.author, pull.edits, after.owners])
        expect(formatMerges(mergePulls(history))).toEqual(formatMerges(mergePulls(quiet)))
        // Their pull requests are merged only with approvals of others, so without those none is merged.
        const alone = mergePulls(
          history.map((pull) => ({
            ...pull,
            approvedBy: pull.approvedBy.filter((user) => untrustedUsers.includes(user)),
          })),
        )
        expect(alone.filter(({ pull }) => untrustedUsers.includes(pull.author))).toEqual([])
      }),
      fuzzOptions,
    )
  }, 120_000)

  test('I8: no label changes which pull requests are merged', () => {
    fc.assert(
      fc.property(randomPulls, (history) => {
        const bare = mergePulls(history.map((pull) => ({ ...pull, labels: [] })))
        expect(mergePulls(history).map(({ pull }) => pull.edits)).toEqual(bare.map(({ pull }) => pull.edits))
      }),
      { numRuns: 60 },
    )
  }, 120_000)

  test('updates by owners and approved changes of owners are merged', () => {
    const merges = mergePulls([
      { author: 'ann', edits: ['update foo'], approvedBy: [], labels: [] },
      { author: 'eve', edits: ['update bar'], approvedBy: ['bob'], labels: [] },
      { author: 'eve', edits: ['own bar'], approvedBy: ['bob'], labels: [] },
      { author: 'eve', edits: ['update bar'], approvedBy: [], labels: [] },
      { author: 'mal', edits: ['new package'], approvedBy: ['max'], labels: [] },
    ])
    expect(merges.length).toBe(5)
  })
})
