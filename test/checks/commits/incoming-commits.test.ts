// What a push contains besides its tree: attacks on other pull requests and on the merge itself, by commits with
// content that is not in the merged tree. docs/dev/threats.md#t72 lists these attacks.
import { afterAll, describe, expect, test } from '@jest/globals'
import { type SnapshotEvaluation } from '../../../src/evaluate/evaluate.ts'
import type { PullSnapshot, IncomingCommits } from '../../../src/pull-request/snapshot.ts'
import { toBlobSha, toCommitSha, toPullNumber, type CommitSha } from '../../../src/pull-request/ids.ts'
import { createCatFileObjectReader } from '../../../src/adapters/git/object-reader.ts'
import { runGit, type GitRunner } from '../../../src/adapters/git/run-git.ts'
import type { OpenPullSummary } from '../../../src/ports/forge.ts'
import type { PullHistoryStore } from '../../../src/ports/pull-history.ts'
import type { CommandRecord } from '../../../src/policy/command-records.ts'
import { createTestPullSnapshot } from '../../policy/verdict-inputs.ts'
import type { OriginFiles } from '../../adapters/git/origin.ts'
import { createOwnershipScenario } from '../ownership/ownership-scenario.ts'
import { readIncomingCommits } from '../../../src/adapters/git/commits.ts'
import { noopPullHistoryStore } from '../../../src/catalogs/memory-cache.ts'

const workflowPath = '.github/workflows/build.yml'
const baseBranchFiles: OriginFiles = {
  'operators/mine/ci.yaml': 'reviewers: [alice]\n',
  'operators/mine/README.md': 'one\n',
  'operators/theirs/ci.yaml': 'reviewers: [bob]\n',
  'operators/theirs/README.md': 'one\n',
  [workflowPath]: 'on: push\n',
}
const readmePath = 'operators/mine/README.md'
const otherOwnerReadmePath = 'operators/theirs/README.md'

const scenario = await createOwnershipScenario('carried')
const { origin } = scenario
const baseCommit = origin.commit(baseBranchFiles)
afterAll(() => scenario.close())

const commitChanges = (
  changes: OriginFiles,
  parents: readonly CommitSha[] = [baseCommit],
  on: OriginFiles = baseBranchFiles,
): CommitSha => origin.commit({ ...on, ...changes }, parents)

/** A commit with the tree of another one, this message, and these additional headers. */
function commitWithMessage(
  like: CommitSha,
  parents: readonly CommitSha[],
  message: string,
  headers: readonly string[] = [],
) {
  const identity = 'Someone <someone@example.com> 1700000000 +0000'
  const lines = [
    `tree ${origin.tree(like)}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${identity}`,
    `committer ${identity}`,
    ...headers,
  ]
  const text = `${lines.join('\n')}\n\n${message}\n`
  return toCommitSha(origin.git(['hash-object', '-t', 'commit', '-w', '--stdin'], text))
}

const getAliceAccount = () => scenario.fakeAccounts.person('alice')
const getBobAccount = () => scenario.fakeAccounts.person('bob')

function createOpenPullSummary(head: CommitSha, more: Partial<OpenPullSummary> = {}): OpenPullSummary {
  const facts = { baseRef: 'main', author: getBobAccount().id, draft: false, labels: [], updatedAt: '' }
  return { pull: toPullNumber(8), head, ...facts, ...more }
}

interface PullEvaluationOptions {
  readonly open?: readonly OpenPullSummary[]
  readonly base?: CommitSha
  readonly memory?: PullHistoryStore
  readonly snapshot?: Partial<PullSnapshot>
  readonly requiresSignatures?: boolean
  /** Replaces results of Git. */
  readonly incoming?: Partial<IncomingCommits>
}

async function evaluatePullAtHead(
  head: CommitSha,
  options: PullEvaluationOptions = {},
): Promise<SnapshotEvaluation> {
  const tip = options.base ?? baseCommit
  await scenario.fetchPull(tip, head)
  return scenario.evaluateSnapshot(
    createTestPullSnapshot({ author: getAliceAccount(), base: tip, head, ...options.snapshot }),
    {
      repository: {
        ...scenario.mirror,
        readIncomingCommits: async (...range) => ({
          ...(await scenario.mirror.readIncomingCommits(...range)),
          ...options.incoming,
        }),
      },
      ...(options.memory && { memory: options.memory }),
      openPulls: async () => options.open ?? [],
      ...(options.requiresSignatures === true && { demandsSignatures: true }),
    },
  )
}

const summarizeVerdict = ({ verdict }: SnapshotEvaluation) => ({
  kind: verdict.kind,
  rules: verdict.outcomes.flatMap(({ findings }) => findings.map(({ rule }) => rule)),
})
const summarizePull = async (...pull: Parameters<typeof evaluatePullAtHead>) =>
  summarizeVerdict(await evaluatePullAtHead(...pull))
const expectedMergeVerdict = { kind: 'merge', rules: [] }
const blockedBy = (...rules: string[]) => ({ kind: 'blocked', rules })

describe('an open pull request whose head is among the commits of another one', () => {
  test('is not closed as merged by a merge that drops its content', async () => {
    const bobs = commitChanges({ [otherOwnerReadmePath]: 'two\n' })
    const dropped = commitChanges({ [readmePath]: 'two\n' }, [baseCommit, bobs])
    expect(await summarizePull(dropped, { open: [createOpenPullSummary(bobs)] })).toEqual(
      blockedBy('closes-other-pull'),
    )
    // Without that pull request, the same commits are allowed.
    expect(await summarizePull(dropped)).toEqual(expectedMergeVerdict)
  })

  test('is not closed as merged when a later commit reverts its content', async () => {
    const added = 'operators/theirs/NEW.md'
    const bobs = commitChanges({ [otherOwnerReadmePath]: 'two\n', [added]: 'new\n' })
    const mixed = commitChanges(
      { [otherOwnerReadmePath]: 'two\n', [added]: 'new\n', [readmePath]: 'two\n' },
      [bobs],
    )
    for (const taken of [
      { [readmePath]: 'two\n' },
      { [readmePath]: 'two\n', [otherOwnerReadmePath]: 'two\n' },
    ])
      expect(
        (await summarizePull(commitChanges(taken, [mixed]), { open: [createOpenPullSummary(bobs)] })).rules,
      ).toContain('closes-other-pull')
  })

  test('is not closed as merged when its content differs by a byte or in its mode', async () => {
    const bobs = commitChanges({ [readmePath]: 'two\n' })
    const altered = commitChanges({ [readmePath]: 'two!\n' }, [bobs])
    expect(await summarizePull(altered, { open: [createOpenPullSummary(bobs)] })).toEqual(
      blockedBy('closes-other-pull'),
    )
    const executable = commitChanges({ [readmePath]: { mode: '100755', content: 'two\n' } }, [bobs])
    expect((await summarizePull(executable, { open: [createOpenPullSummary(bobs)] })).rules).toContain(
      'closes-other-pull',
    )
  })

  test('is not closed as merged when a file that it removes still exists', async () => {
    const extra = { 'operators/mine/OLD.md': 'old\n' }
    const full = origin.commit({ ...baseBranchFiles, ...extra })
    const bobs = origin.commit(baseBranchFiles, [full])
    const stays = commitChanges({ ...extra, [readmePath]: 'two\n' }, [full, bobs])
    expect(await summarizePull(stays, { base: full, open: [createOpenPullSummary(bobs)] })).toEqual(
      blockedBy('closes-other-pull'),
    )
  })

  test('is found in an octopus merge, below another commit, and among several pull requests', async () => {
    const one = commitChanges({ [otherOwnerReadmePath]: 'two\n' })
    const two = commitChanges({ 'operators/theirs/NEW.md': 'two\n' })
    const octopus = commitChanges({ [readmePath]: 'two\n' }, [baseCommit, one, two])
    const above = commitChanges({ [readmePath]: 'three\n' }, [octopus])
    const open = [createOpenPullSummary(one), createOpenPullSummary(two, { pull: toPullNumber(9) })]
    expect(await summarizePull(above, { open })).toEqual(blockedBy('closes-other-pull', 'closes-other-pull'))
  })

  test('can be closed if all of its content is merged, and the result reports it', async () => {
    const bobs = commitChanges({ [readmePath]: 'two\n' })
    const stacked = commitChanges({ [readmePath]: 'two\n', 'operators/mine/NEW.md': 'new\n' }, [bobs])
    const examination = await evaluatePullAtHead(stacked, { open: [createOpenPullSummary(bobs)] })
    expect(summarizeVerdict(examination)).toEqual({ kind: 'merge', rules: ['lands-other-pull'] })
  })

  test('can also be closed if the base has changed in other files', async () => {
    const bobs = commitChanges({ [readmePath]: 'two\n' })
    const stacked = commitChanges({ [readmePath]: 'two\n', 'operators/mine/NEW.md': 'new\n' }, [bobs])
    const moved = commitChanges({ [otherOwnerReadmePath]: 'moved\n' })
    expect(await summarizePull(stacked, { base: moved, open: [createOpenPullSummary(bobs)] })).toEqual({
      kind: 'merge',
      rules: ['lands-other-pull'],
    })
  })

  test('cannot be closed while it is a draft, has a do-not-merge label, or is on hold', async () => {
    const bobs = commitChanges({ [readmePath]: 'two\n' })
    const stacked = commitChanges({ [readmePath]: 'two\n', 'operators/mine/NEW.md': 'new\n' }, [bobs])
    const onHold = {
      comment: 1,
      command: 'hold',
      user: getBobAccount().id,
      login: 'bob',
      outcome: 'done',
      head: bobs,
      baseRef: 'main',
      epoch: 0,
    } as const
    const remember = (...records: CommandRecord[]): PullHistoryStore => ({
      ...noopPullHistoryStore,
      commands: async (_repository, pull) => (pull === 8 ? records : []),
      shownHeads: async () => [{ head: bobs, epoch: 0, at: '', change: 'shown' }],
      readChanges: async () => new Map([['shown', covers]]),
    })
    const covers = new Map([['', '= "the effect that the comment shows" none none']])
    const unhold: CommandRecord = { ...onHold, comment: 2, command: 'unhold', covers }
    const openPull = { open: [createOpenPullSummary(bobs)] }
    for (const more of [
      { open: [createOpenPullSummary(bobs, { draft: true })] },
      { open: [createOpenPullSummary(bobs, { labels: ['DO-NOT-MERGE'] })] },
      { ...openPull, memory: remember(onHold) },
      // The hold is back, because it was removed for other commits, another branch, or another effect, or before the head
      // or the configuration changed and changed back.
      { ...openPull, memory: remember(onHold, { ...unhold, head: baseCommit }) },
      { ...openPull, memory: remember(onHold, { ...unhold, baseRef: 'release' }) },
      {
        ...openPull,
        memory: remember(onHold, { ...unhold, covers: new Map([['', '= "another effect" none none']]) }),
      },
      { ...openPull, memory: remember(onHold, { ...unhold, epoch: 1 }) },
      { ...openPull, memory: { ...remember(onHold, unhold), shownHeads: async () => [] } },
    ])
      expect(await summarizePull(stacked, more)).toEqual(blockedBy('closes-other-pull'))
    const removed = { ...openPull, memory: remember(onHold, unhold) }
    expect((await summarizePull(stacked, removed)).rules).toEqual(['lands-other-pull'])
  })

  test('can be closed in any case if it is by the same author', async () => {
    const first = commitChanges({ [readmePath]: 'two\n' })
    const second = commitChanges({ [readmePath]: 'three\n' }, [first])
    const own = createOpenPullSummary(first, { author: getAliceAccount().id, draft: true })
    expect(await summarizePull(second, { open: [own] })).toEqual({
      kind: 'merge',
      rules: ['lands-other-pull'],
    })
  })

  test('by a deleted account does not count as by the same author', async () => {
    const first = commitChanges({ [readmePath]: 'two\n' })
    const second = commitChanges({ [readmePath]: 'three\n' }, [first])
    const ghost = createOpenPullSummary(first, { author: null })
    expect((await summarizePull(second, { open: [ghost], snapshot: { author: null } })).rules).toContain(
      'closes-other-pull',
    )
  })

  test('does not block if it is for another branch or is not among the commits', async () => {
    const bobs = commitChanges({ [otherOwnerReadmePath]: 'two\n' })
    const dropped = commitChanges({ [readmePath]: 'two\n' }, [baseCommit, bobs])
    const open = [
      createOpenPullSummary(bobs, { baseRef: 'release' }),
      createOpenPullSummary(commitChanges({ [otherOwnerReadmePath]: 'three\n' }), { pull: toPullNumber(9) }),
    ]
    expect(await summarizePull(dropped, { open })).toEqual(expectedMergeVerdict)
  })

  test('is not searched for a pull request with one commit', async () => {
    let queryCount = 0
    const head = commitChanges({ [readmePath]: 'two\n' })
    await scenario.fetchPull(baseCommit, head)
    await scenario.evaluateSnapshot(
      createTestPullSnapshot({ author: getAliceAccount(), base: baseCommit, head }),
      { openPulls: async () => ((queryCount += 1), []) },
    )
    expect(queryCount).toBe(0)
  })
})

describe('a commit message', () => {
  test.each([
    ['Closes #8'],
    ['fix: x\n\nFIXES: #8'],
    ['resolved acme/catalog#8'],
    ['close https://github.com/acme/catalog/pull/8'],
    ['fixed gh-8'],
    ['fixes \n   #8'],
    ['ｃｌｏｓｅｓ ＃８'],
  ])("%j does not close another author's pull request", async (message) => {
    const head = commitWithMessage(commitChanges({ [readmePath]: 'two\n' }), [baseCommit], message)
    const bobs = createOpenPullSummary(commitChanges({ [otherOwnerReadmePath]: 'elsewhere\n' }), {
      baseRef: 'release',
    })
    expect(await summarizePull(head, { open: [bobs] })).toEqual(blockedBy('closes-other-pull'))
    expect(await summarizePull(head, { open: [{ ...bobs, author: getAliceAccount().id }] })).toEqual({
      kind: 'merge',
      rules: ['lands-other-pull'],
    })
    // If no open pull request has that number, the message closes at most an issue, as for any author.
    expect(await summarizePull(head)).toEqual(expectedMergeVerdict)
  })

  test.each([['Closes #88'], ['see #8'], ['closes other/repository#8'], ['enclosed #8'], ['fixes 8']])(
    '%j does not close a pull request',
    async (message) => {
      const head = commitWithMessage(commitChanges({ [readmePath]: 'two\n' }), [baseCommit], message)
      expect(
        await summarizePull(head, {
          open: [createOpenPullSummary(commitChanges({ [otherOwnerReadmePath]: 'two\n' }))],
        }),
      ).toEqual(expectedMergeVerdict)
    },
  )

  test('with [skip ci] is allowed, because it only affects the tip, which catalog-bot commits', async () => {
    const head = commitWithMessage(
      commitChanges({ [readmePath]: 'two\n' }),
      [baseCommit],
      '[skip ci]\n\n\nskip-checks: true',
    )
    expect(await summarizePull(head)).toEqual(expectedMergeVerdict)
  })

  test('with an ambiguous encoding, or that is too long to read, is rejected', async () => {
    const tree = commitChanges({ [readmePath]: 'two\n' })
    const first = commitWithMessage(tree, [baseCommit], 'closes +ACM-8', ['encoding UTF-7'])
    expect(await summarizePull(first)).toEqual(blockedBy('unreadable-commit'))
    const long = commitWithMessage(tree, [baseCommit], 'x'.repeat(300_000))
    expect(await summarizePull(commitWithMessage(tree, [long], 'y'))).toEqual(blockedBy('unreadable-commit'))
    const latin = commitWithMessage(tree, [baseCommit], 'x', ['encoding ISO-8859-1'])
    expect(await summarizePull(latin)).toEqual(expectedMergeVerdict)
  })
})

describe('an edit of workflows', () => {
  const evil = { [workflowPath]: 'on: pull_request_target\n' }

  test.each<[string, OriginFiles]>([
    ['an edit', evil],
    ['a new file', { '.github/workflows/evil.yml': 'on: push\n' }],
    ['a file in a subdirectory', { '.github/workflows/x/evil.yml': 'on: push\n' }],
    ['a link', { [workflowPath]: { mode: '120000', content: '../../x' } }],
    ['an executable bit', { [workflowPath]: { mode: '100755', content: 'on: push\n' } }],
  ])('is found even if it is reverted: %s', async (_, change) => {
    const edit = commitChanges({ [readmePath]: 'two\n', ...change })
    const undone = commitChanges({ [readmePath]: 'two\n' }, [edit])
    expect(await summarizePull(undone)).toEqual(blockedBy('workflow-edit-in-history'))
    expect(await summarizePull(commitChanges({ [readmePath]: 'three\n' }, [undone]))).toEqual(
      blockedBy('workflow-edit-in-history'),
    )
  })

  test('blocks if it is reverted next to a visible edit, and warns if all of it is visible', async () => {
    const severity = async (head: CommitSha) =>
      (await evaluatePullAtHead(head)).verdict.outcomes
        .flatMap(({ findings }) => findings)
        .find(({ rule }) => rule === 'workflow-edit-in-history')?.severity
    const visible = { '.github/workflows/new.yml': 'on: push\n' }
    expect(await severity(commitChanges(visible))).toBe('warning')
    const edit = commitChanges({ ...visible, ...evil })
    expect(await severity(commitChanges(visible, [edit]))).toBe('error')
  })

  test('is found if the files are removed and restored', async () => {
    const { [workflowPath]: _, ...without } = baseBranchFiles
    const removed = origin.commit({ ...without, [readmePath]: 'two\n' }, [baseCommit])
    expect(await summarizePull(commitChanges({ [readmePath]: 'two\n' }, [removed]))).toEqual(
      blockedBy('workflow-edit-in-history'),
    )
  })

  test('is found in a merge whose diff to its first parent hides it', async () => {
    const side = commitChanges({ ...evil, [readmePath]: 'two\n' })
    const merge = commitChanges({ [readmePath]: 'two\n' }, [baseCommit, side])
    expect(await summarizePull(merge)).toEqual(blockedBy('workflow-edit-in-history'))
  })

  test('is found in a merge with content that none of its parents has', async () => {
    const one = commitChanges({ [readmePath]: 'two\n' })
    const two = commitChanges({ 'operators/mine/NEW.md': 'two\n' })
    const merge = commitChanges({ [readmePath]: 'two\n', ...evil }, [one, two])
    expect(await summarizePull(commitChanges({ [readmePath]: 'two\n' }, [merge]))).toEqual(
      blockedBy('workflow-edit-in-history'),
    )
  })

  test('is found in an octopus merge, and in a history without a common ancestor', async () => {
    const side = commitChanges(evil)
    const octopus = commitChanges({ [readmePath]: 'two\n' }, [
      baseCommit,
      commitChanges({ [otherOwnerReadmePath]: 'x\n' }),
      side,
    ])
    expect(await summarizePull(octopus)).toEqual(blockedBy('workflow-edit-in-history'))
    const orphan = origin.commit({ [workflowPath]: 'on: schedule\n' })
    const joined = commitChanges({ [readmePath]: 'two\n' }, [baseCommit, orphan])
    expect(await summarizePull(joined)).toEqual(blockedBy('workflow-edit-in-history'))
  })

  test('is found if a merge of a newer base keeps the older workflow', async () => {
    const newer: OriginFiles = { ...baseBranchFiles, [workflowPath]: 'on: [push, pull_request]\n' }
    const tip = origin.commit(newer, [baseCommit])
    const feature = commitChanges({ [readmePath]: 'two\n' })
    const stale = commitChanges({ [readmePath]: 'two\n' }, [feature, tip])
    const undone = origin.commit({ ...newer, [readmePath]: 'two\n' }, [stale])
    expect(await summarizePull(undone, { base: tip })).toEqual(blockedBy('workflow-edit-in-history'))
    // Here a merge reverts the edit as well, so no commit has content that none of its parents has.
    const merged = origin.commit({ ...newer, [readmePath]: 'two\n' }, [stale, tip])
    expect(await summarizePull(merged, { base: tip })).toEqual(blockedBy('workflow-edit-in-history'))
  })

  test('is not found if a merge brings it from a newer base or the history begins before it', async () => {
    const newer: OriginFiles = { ...baseBranchFiles, [workflowPath]: 'on: [push, pull_request]\n' }
    const tip = origin.commit(newer, [baseCommit])
    const feature = commitChanges({ [readmePath]: 'two\n' })
    expect(await summarizePull(feature, { base: tip })).toEqual(expectedMergeVerdict)
    const merged = origin.commit({ ...newer, [readmePath]: 'two\n' }, [feature, tip])
    const above = origin.commit({ ...newer, [readmePath]: 'three\n' }, [merged])
    expect(await summarizePull(above, { base: tip })).toEqual(expectedMergeVerdict)
    // The reverse order of parents, and with another branch in between.
    const side = origin.commit({ ...newer, 'operators/mine/NEW.md': 'x\n' }, [tip])
    const across = origin.commit({ ...newer, 'operators/mine/NEW.md': 'x\n', [readmePath]: 'two\n' }, [
      feature,
      side,
    ])
    expect(await summarizePull(across, { base: tip })).toEqual(expectedMergeVerdict)
  })
})

describe('the history of a pull request', () => {
  /** Creates this number of commits on top of the base, all with the same tree. */
  function line(length: number): CommitSha {
    const tree = origin.tree(commitChanges({ [readmePath]: 'two\n' }))
    const commits = Array.from({ length }, (_, at) => [
      'commit refs/scratch',
      `committer S <s@example.com> ${1_700_000_000 + at} +0000`,
      'data 1',
      'x',
      ...(at === 0 ? [`from ${baseCommit}`, `M 040000 ${tree} ""`] : []),
      '',
    ])
    const input = `reset refs/scratch\n\n${commits.flat().join('\n')}\n`
    origin.git(['fast-import', '--quiet', '--force', '--date-format=raw'], input)
    return toCommitSha(origin.git(['rev-parse', 'refs/scratch']))
  }

  test('has at most 250 commits', async () => {
    expect(await summarizePull(line(250))).toEqual(expectedMergeVerdict)
    expect(await summarizePull(line(251))).toEqual(blockedBy('too-many-commits'))
  })

  test('of ten thousand commits is rejected without reading the commits', async () => {
    const head = line(10_000)
    expect(await summarizePull(head)).toEqual(blockedBy('too-many-commits'))
    expect(await scenario.mirror.readIncomingCommits(baseCommit, head)).toEqual({
      isWhole: false,
      commits: [],
      largeFiles: [],
    })
  })

  test('must not contain a file that GitHub rejects, even if a later commit removes it', async () => {
    const added = commitChanges({ [readmePath]: 'two\n', 'operators/mine/large.bin': 'x'.repeat(2000) })
    const gone = commitChanges({ [readmePath]: 'two\n' }, [added])
    const blob = toBlobSha(origin.git(['rev-parse', `${added}:operators/mine/large.bin`]))
    expect(await summarizePull(gone)).toEqual(expectedMergeVerdict)
    const git: GitRunner = (args, more) =>
      runGit({ args, directory: origin.directory, timeout: 30_000, limit: 1_000_000, ...more })
    const objects = createCatFileObjectReader({ directory: origin.directory, timeout: 30_000 })
    try {
      const largeFilesAbove = async (maxBytes: number) =>
        (await readIncomingCommits({ git, objects, maxFileBytes: maxBytes }, baseCommit, gone)).largeFiles
      expect([await largeFilesAbove(1999), await largeFilesAbove(2000)]).toEqual([[blob], []])
      const evaluation = await evaluatePullAtHead(gone, { incoming: { largeFiles: [blob] } })
      expect(summarizeVerdict(evaluation)).toEqual(blockedBy('oversized-file-in-history'))
      expect(JSON.stringify(evaluation.verdict.outcomes)).toContain(blob)
    } finally {
      objects.close()
    }
  })

  test('must be signed in every commit if the base branch requires signatures', async () => {
    const tree = commitChanges({ [readmePath]: 'two\n' })
    const signature = ['gpgsig -----BEGIN SSH SIGNATURE-----', ' x', ' -----END SSH SIGNATURE-----']
    const signed = commitWithMessage(tree, [baseCommit], 'signed', signature)
    expect(await summarizePull(signed, { requiresSignatures: true })).toEqual(expectedMergeVerdict)
    const bare = commitWithMessage(tree, [signed], 'a message is none:\n\ngpgsig x')
    expect(await summarizePull(bare)).toEqual(expectedMergeVerdict)
    const above = commitWithMessage(tree, [bare], 'signed', signature)
    expect(await summarizePull(above, { requiresSignatures: true })).toEqual(blockedBy('unsigned-commit'))
  })

  test('can contain a submodule or a link that a later commit removes', async () => {
    const odd = commitChanges({
      [readmePath]: 'two\n',
      'operators/mine/sub': { mode: '160000', oid: baseCommit },
      'operators/mine/link': { mode: '120000', content: '/etc/passwd' },
    })
    expect(await summarizePull(commitChanges({ [readmePath]: 'two\n' }, [odd]))).toEqual(expectedMergeVerdict)
  })
})
