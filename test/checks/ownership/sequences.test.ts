// No sequence of pull requests by people without rights ever lands without somebody who has them. The oracle knows
// the true state of the world only (who was listed where, before each landing), nothing of how the check decides.
import { describe, expect, test } from '@jest/globals'
import fc from '../../seeded.ts'
import type { Review } from '../../../src/change/snapshot.ts'
import { approvalsFromReviews, coverage, ownerFilePaths } from '../../../src/checks/ownership/ownership.ts'
import type { CheckInput } from '../../../src/checks/check.ts'
import { configPath } from '../../../src/config/config-path.ts'
import { parseConfig } from '../../../src/config/config.ts'
import { decide } from '../../../src/gate/decide.ts'
import {
  bundle,
  changeBetween,
  channel,
  pkg,
  textOf,
  type Blob,
  type Files,
} from '../../change/build-catalog.ts'
import { aGateInput, aSnapshot, outcomesWith } from '../../gate/build.ts'
import { judgeInput, People } from './world.ts'

const users = ['ann', 'amy', 'bob', 'max', 'eve', 'mal'] as const
type User = (typeof users)[number]
const strangers: readonly User[] = ['eve', 'mal']
const packages = ['foo', 'bar'] as const

const people = new People()
for (const user of users) people.person(user)

interface State {
  readonly files: Files
  readonly owners: Readonly<Record<string, readonly User[]>>
}

const start: State = withOwners(
  {
    'config.yaml': 'maintainers: [max]\n',
    'catalog/foo/catalog.yaml': contents('foo', 1),
    'catalog/bar/catalog.yaml': contents('bar', 1),
    'operators/bar/notes.md': 'notes\n',
  },
  { foo: ['ann', 'amy'], bar: ['bob'] },
)

function contents(name: string, versions: number): Blob[] {
  const names = Array.from({ length: versions }, (_, at) => `${name}.v${at + 1}`)
  return [
    pkg(name),
    channel(
      'stable',
      name,
      names.map((entry, at) => (at === 0 ? entry : `${entry} < ${names[at - 1]}`)),
    ),
    ...names.map((entry, at) => bundle(entry, name, `${at + 1}.0.0`)),
  ]
}
function withOwners(files: Files, owners: Readonly<Record<string, readonly User[]>>): State {
  const lists = Object.entries(owners).map(([name, list]) => [
    `operators/${name}/ci.yaml`,
    `reviewers: [${list.join(', ')}]\n`,
  ])
  return { files: { ...files, ...(Object.fromEntries(lists) as Files) }, owners }
}

type Edit = (state: State, author: User) => State
const versionsOf = (state: State, name: string) =>
  [...(state.files[`catalog/${name}/catalog.yaml`] ?? [])].filter(
    (blob) => (blob as Blob)['schema'] === 'olm.bundle',
  ).length
const put = (state: State, files: Files): State => ({ ...state, files: { ...state.files, ...files } })

const edits: Readonly<Record<string, Edit>> = {
  'update foo': (state) =>
    put(state, { 'catalog/foo/catalog.yaml': contents('foo', versionsOf(state, 'foo') + 1) }),
  'update bar': (state) =>
    put(state, { 'catalog/bar/catalog.yaml': contents('bar', versionsOf(state, 'bar') + 1) }),
  'own foo': (state, author) =>
    withOwners(state.files, { ...state.owners, foo: [...new Set([...(state.owners['foo'] ?? []), author])] }),
  'own bar': (state, author) =>
    withOwners(state.files, { ...state.owners, bar: [...new Set([...(state.owners['bar'] ?? []), author])] }),
  'take bar': (state, author) => withOwners(state.files, { ...state.owners, bar: [author] }),
  'give foo to eve': (state) =>
    withOwners(state.files, {
      ...state.owners,
      foo: [...new Set([...(state.owners['foo'] ?? []), 'eve' as const])],
    }),
  'leave foo': (state, author) =>
    withOwners(state.files, {
      ...state.owners,
      foo: (state.owners['foo'] ?? []).filter((user) => user !== author),
    }),
  'empty bar': (state) => withOwners(state.files, { ...state.owners, bar: [] }),
  maintain: (state, author) => put(state, { 'config.yaml': `maintainers: [max, ${author}]\n` }),
  configure: (state, author) => put(state, { [configPath]: `owners: {maintainers: [${author}]}\n` }),
  'write CODEOWNERS': (state, author) => put(state, { CODEOWNERS: `* @${author}\n` }),
  'write OWNERS': (state, author) => put(state, { 'catalog/bar/OWNERS': `approvers: [${author}]\n` }),
  'move notes': (state) => {
    const { 'operators/bar/notes.md': notes, ...rest } = state.files
    return notes === undefined ? state : { ...state, files: { ...rest, 'operators/foo/notes.md': notes } }
  },
  'speak for bar in foo': (state) =>
    put(state, {
      'catalog/foo/catalog.yaml': [
        ...((state.files['catalog/foo/catalog.yaml'] as Blob[]) ?? []),
        channel('evil', 'bar', ['bar.v1']),
      ],
    }),
  'new package': (state, author) =>
    withOwners(
      { ...state.files, 'catalog/baz/catalog.yaml': contents('baz', 1) },
      { ...state.owners, baz: [author] },
    ),
  workflow: (state) => put(state, { '.github/workflows/x.yml': 'on: push\n' }),
}

interface Pull {
  readonly author: User
  readonly edits: readonly string[]
  readonly approvedBy: readonly User[]
  readonly labels: readonly string[]
}
const pulls = fc.array(
  fc.record({
    author: fc.constantFrom(...users),
    edits: fc.uniqueArray(fc.constantFrom(...Object.keys(edits)), { minLength: 1, maxLength: 2 }),
    approvedBy: fc.uniqueArray(fc.constantFrom(...users), { maxLength: 2 }),
    labels: fc.uniqueArray(fc.constantFrom('approved', 'lgtm', 'triage'), { maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 8 },
)

function lands(state: State, result: State, pull: Pull): boolean {
  const change = changeBetween(state.files, result.files)
  const basePaths = Object.keys(state.files).sort()
  const text = (files: Files, path: string) => {
    const content = files[path]
    return content === undefined ? undefined : textOf(content)
  }
  const parsed = parseConfig(text(state.files, configPath))
  if (parsed.kind === 'unreadable') return false
  const head = aSnapshot().head
  const reviews = pull.approvedBy.map((user, at): Review => ({
    id: at + 1,
    author: people.person(user),
    state: 'approved',
    commit: head,
    submittedAt: `2026-01-01T00:00:0${at}Z`,
  }))
  const snapshot = aSnapshot({ author: people.person(pull.author), reviews, labels: pull.labels })
  const files = { base: new Map<string, string>(), result: new Map<string, string>() }
  for (const path of ownerFilePaths(basePaths, change)) {
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
  const agreed = new Map(reviews.map(({ id }) => [id, coverage(unapproved)]))
  const approvals = approvalsFromReviews(snapshot, 0, new Map(), agreed)
  const { outcome, input } = judgeInput({ ...unapproved, approvals }, people)
  const differing = [...new Set([...basePaths, ...Object.keys(result.files)])].filter(
    (path) => text(state.files, path) !== text(result.files, path),
  )
  // The paths we authorise are a superset of those that differ.
  expect(input.change.paths.map(({ path }) => path)).toEqual(expect.arrayContaining(differing))
  return (
    decide(
      aGateInput({
        snapshot,
        changedPaths: differing.length,
        outcomes: outcomesWith(outcome),
      }),
    ).kind === 'merge'
  )
}

interface Landing {
  readonly pull: Pull
  readonly before: State
  readonly after: State
}
function play(history: readonly Pull[]): readonly Landing[] {
  const landings: Landing[] = []
  let state = start
  for (const pull of history) {
    const result = pull.edits.reduce((now, edit) => edits[edit]?.(now, pull.author) ?? now, state)
    if (!lands(state, result, pull)) continue
    landings.push({ pull, before: state, after: result })
    state = result
  }
  return landings
}

/** Whether somebody among `voices` had a right to a package before the landing: by its ci.yaml, or by its OWNERS file. */
const hasRight = (voices: readonly User[], before: State, name: string) =>
  voices.some(
    (user) =>
      user === 'max' ||
      (before.owners[name] ?? []).includes(user) ||
      approversOf(before, name).includes(user),
  )
function approversOf({ files }: State, name: string): readonly string[] {
  const text = files[`catalog/${name}/OWNERS`]
  return typeof text === 'string'
    ? (/^approvers: \[(?<names>.*)\]$/m.exec(text)?.groups?.names ?? '').split(', ')
    : []
}
const voicesOf = ({ author, approvedBy }: Pull): readonly User[] => [author, ...approvedBy]

const runs = { numRuns: 150 }

describe('any sequence of pull requests', () => {
  test('I3, I9: whatever landed lay in packages, and each had an owner or a maintainer for it', () => {
    fc.assert(
      fc.property(pulls, (history) => {
        for (const { pull, before, after } of play(history)) {
          const paths = [...new Set([...Object.keys(before.files), ...Object.keys(after.files)])].filter(
            (path) => textOf(before.files[path] ?? '') !== textOf(after.files[path] ?? ''),
          )
          for (const path of paths) {
            const name = /^(?:catalog|operators)\/([^/.]+)\//.exec(path)?.[1]
            expect(name).toBeDefined()
            expect(hasRight(voicesOf(pull), before, name ?? '')).toBe(true)
          }
          // And for what the content speaks of.
          for (const name of packages)
            if (versionsOf(before, name) !== versionsOf(after, name))
              expect(hasRight(voicesOf(pull), before, name)).toBe(true)
          expect(textOf(after.files['catalog/foo/catalog.yaml'] ?? '')).not.toContain('"evil"')
        }
      }),
      runs,
    )
  }, 120_000)

  test('I5, I10: every new owner had the consent of an owner or a maintainer other than themselves', () => {
    fc.assert(
      fc.property(pulls, (history) => {
        for (const { pull, before, after } of play(history))
          for (const [name, owners] of Object.entries(after.owners))
            for (const user of owners.filter((owner) => !(before.owners[name] ?? []).includes(owner))) {
              const others = voicesOf(pull).filter((voice) => voice !== user)
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
      runs,
    )
  }, 120_000)

  test('I7: taking away what people without rights say and propose changes nothing else', () => {
    // Histories in which strangers are never made owners, so that they have no rights at any time.
    const noGrants = (history: readonly Pull[]) =>
      history.filter(
        ({ author, edits: made }) =>
          !made.includes('give foo to eve') &&
          !(strangers.includes(author) && made.some((edit) => /^(?:own|take|new|write)/.test(edit))),
      )
    fc.assert(
      fc.property(pulls, (made) => {
        const history = noGrants(made)
        const quiet = history.map((pull) => ({
          ...pull,
          approvedBy: pull.approvedBy.filter((user) => !strangers.includes(user)),
        }))
        const seen = (landings: readonly Landing[]) =>
          landings.map(({ pull, after }) => [pull.author, pull.edits, after.owners])
        expect(seen(play(history))).toEqual(seen(play(quiet)))
        // Their own pull requests land only by others' words, so without those words none does.
        const alone = play(
          history.map((pull) => ({
            ...pull,
            approvedBy: pull.approvedBy.filter((user) => strangers.includes(user)),
          })),
        )
        expect(alone.filter(({ pull }) => strangers.includes(pull.author))).toEqual([])
      }),
      runs,
    )
  }, 120_000)

  test('I8: no label turns "does not land" into "lands"', () => {
    fc.assert(
      fc.property(pulls, (history) => {
        const bare = play(history.map((pull) => ({ ...pull, labels: [] })))
        expect(play(history).map(({ pull }) => pull.edits)).toEqual(bare.map(({ pull }) => pull.edits))
      }),
      { numRuns: 60 },
    )
  }, 120_000)

  test('and things do land: owners’ updates, consented handovers', () => {
    const landed = play([
      { author: 'ann', edits: ['update foo'], approvedBy: [], labels: [] },
      { author: 'eve', edits: ['update bar'], approvedBy: ['bob'], labels: [] },
      { author: 'eve', edits: ['own bar'], approvedBy: ['bob'], labels: [] },
      { author: 'eve', edits: ['update bar'], approvedBy: [], labels: [] },
      { author: 'mal', edits: ['new package'], approvedBy: ['max'], labels: [] },
    ])
    expect(landed.length).toBe(5)
  })
})
