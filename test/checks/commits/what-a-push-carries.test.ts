// What a push carries besides its tree: attacks on other people's pull requests and on the landing itself by commits
// whose content is gone again, or never was, in the tree that lands. Beside docs/attacks.md, which lists them.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { examine, type Examination } from '../../../src/examine/examine.ts'
import type { CarriedCommits } from '../../../src/change/carried-commits.ts'
import { blobSha, commitSha, pullNumber, type CommitSha } from '../../../src/change/ids.ts'
import type { Snapshot } from '../../../src/change/snapshot.ts'
import { readCarried } from '../../../src/git/carried-commits.ts'
import type { LocalGit } from '../../../src/git/local-git.ts'
import { openObjectReader } from '../../../src/git/object-reader.ts'
import { runGit } from '../../../src/git/run-git.ts'
import type { OpenPull } from '../../../src/ports/forge.ts'
import type { PullMemory } from '../../../src/ports/pull-memory.ts'
import { forgetfulMemory } from '../../../src/examine/forgetful.ts'
import { aSnapshot } from '../../gate/build.ts'
import type { Files } from '../../git/origin.ts'
import { openWorld, type World } from '../ownership/world.ts'

const workflow = '.github/workflows/build.yml'
const base: Files = {
  'operators/mine/ci.yaml': 'reviewers: [alice]\n',
  'operators/mine/README.md': 'one\n',
  'operators/theirs/ci.yaml': 'reviewers: [bob]\n',
  'operators/theirs/README.md': 'one\n',
  [workflow]: 'on: push\n',
}
const mine = 'operators/mine/README.md'
const theirs = 'operators/theirs/README.md'

let world: World
let from: CommitSha
beforeAll(async () => {
  world = await openWorld('carried')
  from = world.origin.commit(base)
})
afterAll(() => world.close())

const commit = (changes: Files, parents: readonly CommitSha[] = [from], on: Files = base): CommitSha =>
  world.origin.commit({ ...on, ...changes }, parents)

/** A commit of the tree of another one with this message, and these headers besides. */
function reworded(
  like: CommitSha,
  parents: readonly CommitSha[],
  message: string,
  headers: readonly string[] = [],
) {
  const who = 'Someone <someone@example.com> 1700000000 +0000'
  const lines = [
    `tree ${world.origin.tree(like)}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${who}`,
    `committer ${who}`,
    ...headers,
  ]
  const text = `${lines.join('\n')}\n\n${message}\n`
  return commitSha(world.origin.git(['hash-object', '-t', 'commit', '-w', '--stdin'], text))
}

const alice = () => world.people.person('alice')
const bob = () => world.people.person('bob')

function other(head: CommitSha, more: Partial<OpenPull> = {}): OpenPull {
  const facts = { baseRef: 'main', author: bob().id, draft: false, labels: [], updatedAt: '' }
  return { pull: pullNumber(8), head, ...facts, ...more }
}

interface Look {
  readonly open?: readonly OpenPull[]
  readonly base?: CommitSha
  readonly memory?: PullMemory
  readonly snapshot?: Partial<Snapshot>
  readonly demandsSignatures?: boolean
  /** What git is taken to say instead. */
  readonly carried?: Partial<CarriedCommits>
}

async function look(head: CommitSha, options: Look = {}): Promise<Examination> {
  const tip = options.base ?? from
  world.origin.branch('main', tip)
  world.origin.pull(7, head)
  await world.mirror.fetch('main', pullNumber(7))
  return examine(aSnapshot({ author: alice(), base: tip, head, ...options.snapshot }), {
    repository: {
      ...world.mirror,
      carried: async (...range) => ({ ...(await world.mirror.carried(...range)), ...options.carried }),
    },
    loader: { load: async () => undefined },
    ask: async (question) => world.people.answer(question),
    memory: options.memory ?? forgetfulMemory,
    openPulls: async () => options.open ?? [],
    ...(options.demandsSignatures === true && { demandsSignatures: true }),
  })
}

const judged = ({ verdict }: Examination) => ({
  kind: verdict.kind,
  rules: verdict.outcomes.flatMap(({ findings }) => findings.map(({ rule }) => rule)),
})
const lands = { kind: 'merge', rules: [] }
const blocked = (...rules: string[]) => ({ kind: 'blocked', rules })

describe("somebody else's pull request whose head is among the commits", () => {
  test('is not closed as merged by a merge that drops its content', async () => {
    const bobs = commit({ [theirs]: 'two\n' })
    const dropped = commit({ [mine]: 'two\n' }, [from, bobs])
    expect(judged(await look(dropped, { open: [other(bobs)] }))).toEqual(blocked('closes-other-pull'))
    // Without that pull request the same commits are nobody's business.
    expect(judged(await look(dropped))).toEqual(lands)
  })

  test('is not closed as merged when a later commit takes its content back', async () => {
    const added = 'operators/theirs/NEW.md'
    const bobs = commit({ [theirs]: 'two\n', [added]: 'new\n' })
    const mixed = commit({ [theirs]: 'two\n', [added]: 'new\n', [mine]: 'two\n' }, [bobs])
    for (const taken of [{ [mine]: 'two\n' }, { [mine]: 'two\n', [theirs]: 'two\n' }])
      expect(judged(await look(commit(taken, [mixed]), { open: [other(bobs)] })).rules).toContain(
        'closes-other-pull',
      )
  })

  test('is not closed as merged when its content is altered, by a byte or by its mode', async () => {
    const bobs = commit({ [mine]: 'two\n' })
    const altered = commit({ [mine]: 'two!\n' }, [bobs])
    expect(judged(await look(altered, { open: [other(bobs)] }))).toEqual(blocked('closes-other-pull'))
    const executable = commit({ [mine]: { mode: '100755', content: 'two\n' } }, [bobs])
    expect(judged(await look(executable, { open: [other(bobs)] })).rules).toContain('closes-other-pull')
  })

  test('is not closed as merged when it removes a file that stays', async () => {
    const extra = { 'operators/mine/OLD.md': 'old\n' }
    const full = world.origin.commit({ ...base, ...extra })
    const bobs = world.origin.commit(base, [full])
    const stays = commit({ ...extra, [mine]: 'two\n' }, [full, bobs])
    expect(judged(await look(stays, { base: full, open: [other(bobs)] }))).toEqual(
      blocked('closes-other-pull'),
    )
  })

  test('is found in an octopus, behind other merges, and among several', async () => {
    const one = commit({ [theirs]: 'two\n' })
    const two = commit({ 'operators/theirs/NEW.md': 'two\n' })
    const octopus = commit({ [mine]: 'two\n' }, [from, one, two])
    const above = commit({ [mine]: 'three\n' }, [octopus])
    const open = [other(one), other(two, { pull: pullNumber(9) })]
    expect(judged(await look(above, { open }))).toEqual(blocked('closes-other-pull', 'closes-other-pull'))
  })

  test('may be closed with all of its content, which is said', async () => {
    const bobs = commit({ [mine]: 'two\n' })
    const stacked = commit({ [mine]: 'two\n', 'operators/mine/NEW.md': 'new\n' }, [bobs])
    const examination = await look(stacked, { open: [other(bobs)] })
    expect(judged(examination)).toEqual({ kind: 'merge', rules: ['lands-other-pull'] })
  })

  test('is kept too where the base has moved on in other files', async () => {
    const bobs = commit({ [mine]: 'two\n' })
    const stacked = commit({ [mine]: 'two\n', 'operators/mine/NEW.md': 'new\n' }, [bobs])
    const moved = commit({ [theirs]: 'moved\n' })
    expect(judged(await look(stacked, { base: moved, open: [other(bobs)] }))).toEqual({
      kind: 'merge',
      rules: ['lands-other-pull'],
    })
  })

  test('does not land that way while people hold it back', async () => {
    const bobs = commit({ [mine]: 'two\n' })
    const stacked = commit({ [mine]: 'two\n', 'operators/mine/NEW.md': 'new\n' }, [bobs])
    const held: PullMemory = {
      ...forgetfulMemory,
      commands: async (_repository, pull) =>
        pull === 8
          ? [
              {
                comment: 1,
                command: 'hold',
                user: bob().id,
                login: 'bob',
                outcome: 'done',
                head: bobs,
                baseRef: 'main',
                epoch: 0,
              },
            ]
          : [],
    }
    for (const more of [
      { open: [other(bobs, { draft: true })] },
      { open: [other(bobs, { labels: ['DO-NOT-MERGE'] })] },
      { open: [other(bobs)], memory: held },
    ])
      expect(judged(await look(stacked, more))).toEqual(blocked('closes-other-pull'))
  })

  test("may be the author's own, whatever becomes of it", async () => {
    const first = commit({ [mine]: 'two\n' })
    const second = commit({ [mine]: 'three\n' }, [first])
    const own = other(first, { author: alice().id, draft: true })
    expect(judged(await look(second, { open: [own] }))).toEqual({
      kind: 'merge',
      rules: ['lands-other-pull'],
    })
  })

  test('of a deleted account is nobody’s own', async () => {
    const first = commit({ [mine]: 'two\n' })
    const second = commit({ [mine]: 'three\n' }, [first])
    const ghost = other(first, { author: null })
    expect(judged(await look(second, { open: [ghost], snapshot: { author: null } })).rules).toContain(
      'closes-other-pull',
    )
  })

  test('stays open, and is no matter, where it is for another branch or of another history', async () => {
    const bobs = commit({ [theirs]: 'two\n' })
    const dropped = commit({ [mine]: 'two\n' }, [from, bobs])
    const open = [
      other(bobs, { baseRef: 'release' }),
      other(commit({ [theirs]: 'three\n' }), { pull: pullNumber(9) }),
    ]
    expect(judged(await look(dropped, { open }))).toEqual(lands)
  })

  test('costs a pull request of one commit no request', async () => {
    let asked = 0
    const head = commit({ [mine]: 'two\n' })
    world.origin.branch('main', from)
    world.origin.pull(7, head)
    await world.mirror.fetch('main', pullNumber(7))
    await examine(aSnapshot({ author: alice(), base: from, head }), {
      repository: world.mirror,
      loader: { load: async () => undefined },
      ask: async (question) => world.people.answer(question),
      memory: forgetfulMemory,
      openPulls: async () => ((asked += 1), []),
    })
    expect(asked).toBe(0)
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
  ])('%j does not close the pull request of somebody else', async (message) => {
    const head = reworded(commit({ [mine]: 'two\n' }), [from], message)
    const bobs = other(commit({ [theirs]: 'elsewhere\n' }), { baseRef: 'release' })
    expect(judged(await look(head, { open: [bobs] }))).toEqual(blocked('closes-other-pull'))
    expect(judged(await look(head, { open: [{ ...bobs, author: alice().id }] }))).toEqual({
      kind: 'merge',
      rules: ['lands-other-pull'],
    })
    // An issue of that number is closed as for everybody.
    expect(judged(await look(head))).toEqual(lands)
  })

  test.each([['Closes #88'], ['see #8'], ['closes other/repository#8'], ['enclosed #8'], ['fixes 8']])(
    '%j says nothing of the kind',
    async (message) => {
      const head = reworded(commit({ [mine]: 'two\n' }), [from], message)
      expect(judged(await look(head, { open: [other(commit({ [theirs]: 'two\n' }))] }))).toEqual(lands)
    },
  )

  test('[skip ci] is for the tip of a push, which is our own commit', async () => {
    const head = reworded(commit({ [mine]: 'two\n' }), [from], '[skip ci]\n\n\nskip-checks: true')
    expect(judged(await look(head))).toEqual(lands)
  })

  test('that others may read otherwise, or that nobody reads, is refused', async () => {
    const tree = commit({ [mine]: 'two\n' })
    const first = reworded(tree, [from], 'closes +ACM-8', ['encoding UTF-7'])
    expect(judged(await look(first))).toEqual(blocked('unreadable-commit'))
    const long = reworded(tree, [from], 'x'.repeat(300_000))
    expect(judged(await look(reworded(tree, [long], 'y')))).toEqual(blocked('unreadable-commit'))
    const latin = reworded(tree, [from], 'x', ['encoding ISO-8859-1'])
    expect(judged(await look(latin))).toEqual(lands)
  })
})

describe('an edit of workflows', () => {
  const evil = { [workflow]: 'on: pull_request_target\n' }

  test.each<[string, Files]>([
    ['an edit', evil],
    ['a new file', { '.github/workflows/evil.yml': 'on: push\n' }],
    ['a file below', { '.github/workflows/x/evil.yml': 'on: push\n' }],
    ['a link', { [workflow]: { mode: '120000', content: '../../x' } }],
    ['an executable bit', { [workflow]: { mode: '100755', content: 'on: push\n' } }],
  ])('is found though it is taken back: %s', async (_, change) => {
    const edit = commit({ [mine]: 'two\n', ...change })
    const undone = commit({ [mine]: 'two\n' }, [edit])
    expect(judged(await look(undone))).toEqual(blocked('workflow-edit-in-history'))
    expect(judged(await look(commit({ [mine]: 'three\n' }, [undone])))).toEqual(
      blocked('workflow-edit-in-history'),
    )
  })

  test('blocks where another edit is visible beside the reverted one, and warns where all of it is visible', async () => {
    const severity = async (head: CommitSha) =>
      (await look(head)).verdict.outcomes
        .flatMap(({ findings }) => findings)
        .find(({ rule }) => rule === 'workflow-edit-in-history')?.severity
    const visible = { '.github/workflows/new.yml': 'on: push\n' }
    expect(await severity(commit(visible))).toBe('warning')
    const edit = commit({ ...visible, ...evil })
    expect(await severity(commit(visible, [edit]))).toBe('error')
  })

  test('is found where the files are removed and come back', async () => {
    const { [workflow]: _, ...without } = base
    const removed = world.origin.commit({ ...without, [mine]: 'two\n' }, [from])
    expect(judged(await look(commit({ [mine]: 'two\n' }, [removed])))).toEqual(
      blocked('workflow-edit-in-history'),
    )
  })

  test('is found in a merge whose difference to its first parent hides it', async () => {
    const side = commit({ ...evil, [mine]: 'two\n' })
    const merge = commit({ [mine]: 'two\n' }, [from, side])
    expect(judged(await look(merge))).toEqual(blocked('workflow-edit-in-history'))
  })

  test('is found in a merge that has what none of its parents has', async () => {
    const one = commit({ [mine]: 'two\n' })
    const two = commit({ 'operators/mine/NEW.md': 'two\n' })
    const merge = commit({ [mine]: 'two\n', ...evil }, [one, two])
    expect(judged(await look(commit({ [mine]: 'two\n' }, [merge])))).toEqual(
      blocked('workflow-edit-in-history'),
    )
  })

  test('is found in an octopus, and in a history without an ancestor', async () => {
    const side = commit(evil)
    const octopus = commit({ [mine]: 'two\n' }, [from, commit({ [theirs]: 'x\n' }), side])
    expect(judged(await look(octopus))).toEqual(blocked('workflow-edit-in-history'))
    const orphan = world.origin.commit({ [workflow]: 'on: schedule\n' })
    const joined = commit({ [mine]: 'two\n' }, [from, orphan])
    expect(judged(await look(joined))).toEqual(blocked('workflow-edit-in-history'))
  })

  test('is found where a merge keeps an older state against the newer base that it brings', async () => {
    const newer: Files = { ...base, [workflow]: 'on: [push, pull_request]\n' }
    const tip = world.origin.commit(newer, [from])
    const feature = commit({ [mine]: 'two\n' })
    const stale = commit({ [mine]: 'two\n' }, [feature, tip])
    const undone = world.origin.commit({ ...newer, [mine]: 'two\n' }, [stale])
    expect(judged(await look(undone, { base: tip }))).toEqual(blocked('workflow-edit-in-history'))
    // Taken back by a merge as well: no commit has what none of its parents has.
    const merged = world.origin.commit({ ...newer, [mine]: 'two\n' }, [stale, tip])
    expect(judged(await look(merged, { base: tip }))).toEqual(blocked('workflow-edit-in-history'))
  })

  test('is none where a merge brings those of a newer base, or the history begins below one', async () => {
    const newer: Files = { ...base, [workflow]: 'on: [push, pull_request]\n' }
    const tip = world.origin.commit(newer, [from])
    const feature = commit({ [mine]: 'two\n' })
    expect(judged(await look(feature, { base: tip }))).toEqual(lands)
    const merged = world.origin.commit({ ...newer, [mine]: 'two\n' }, [feature, tip])
    const above = world.origin.commit({ ...newer, [mine]: 'three\n' }, [merged])
    expect(judged(await look(above, { base: tip }))).toEqual(lands)
    // The other way round, and with one more branch in between.
    const side = world.origin.commit({ ...newer, 'operators/mine/NEW.md': 'x\n' }, [tip])
    const across = world.origin.commit({ ...newer, 'operators/mine/NEW.md': 'x\n', [mine]: 'two\n' }, [
      feature,
      side,
    ])
    expect(judged(await look(across, { base: tip }))).toEqual(lands)
  })
})

describe('the history of a pull request', () => {
  /** So many commits on top of the base, all of one tree. */
  function line(length: number): CommitSha {
    const tree = world.origin.tree(commit({ [mine]: 'two\n' }))
    const commits = Array.from({ length }, (_, at) => [
      'commit refs/scratch',
      `committer S <s@example.com> ${1_700_000_000 + at} +0000`,
      'data 1',
      'x',
      ...(at === 0 ? [`from ${from}`, `M 040000 ${tree} ""`] : []),
      '',
    ])
    const input = `reset refs/scratch\n\n${commits.flat().join('\n')}\n`
    world.origin.git(['fast-import', '--quiet', '--force', '--date-format=raw'], input)
    return commitSha(world.origin.git(['rev-parse', 'refs/scratch']))
  }

  test('has at most 250 commits', async () => {
    expect(judged(await look(line(250)))).toEqual(lands)
    expect(judged(await look(line(251)))).toEqual(blocked('too-many-commits'))
  })

  test('of ten thousand commits is looked at as far as one of 250', async () => {
    const head = line(10_000)
    expect(judged(await look(head))).toEqual(blocked('too-many-commits'))
    expect(await world.mirror.carried(from, head)).toEqual({ isWhole: false, commits: [], largeFiles: [] })
  }, 60_000)

  test('has no file that GitHub refuses, though it is gone again', async () => {
    const added = commit({ [mine]: 'two\n', 'operators/mine/large.bin': 'x'.repeat(2000) })
    const gone = commit({ [mine]: 'two\n' }, [added])
    const blob = blobSha(world.origin.git(['rev-parse', `${added}:operators/mine/large.bin`]))
    expect(judged(await look(gone))).toEqual(lands)
    const git: LocalGit = (args, more) =>
      runGit({ args, directory: world.origin.directory, timeout: 30_000, limit: 1_000_000, ...more })
    const objects = openObjectReader({ directory: world.origin.directory, timeout: 30_000 })
    try {
      const largeFilesAbove = async (largest: number) =>
        (await readCarried({ git, objects, largest }, from, gone)).largeFiles
      expect([await largeFilesAbove(1999), await largeFilesAbove(2000)]).toEqual([[blob], []])
      const found = await look(gone, { carried: { largeFiles: [blob] } })
      expect(judged(found)).toEqual(blocked('oversized-file-in-history'))
      expect(JSON.stringify(found.verdict.outcomes)).toContain(blob)
    } finally {
      objects.close()
    }
  })

  test('is signed as a whole where the base branch demands signatures', async () => {
    const tree = commit({ [mine]: 'two\n' })
    const signature = ['gpgsig -----BEGIN SSH SIGNATURE-----', ' x', ' -----END SSH SIGNATURE-----']
    const signed = reworded(tree, [from], 'signed', signature)
    expect(judged(await look(signed, { demandsSignatures: true }))).toEqual(lands)
    const bare = reworded(tree, [signed], 'a message is none:\n\ngpgsig x')
    expect(judged(await look(bare))).toEqual(lands)
    const above = reworded(tree, [bare], 'signed', signature)
    expect(judged(await look(above, { demandsSignatures: true }))).toEqual(blocked('unsigned-commit'))
  })

  test('may have a submodule or a link that is gone again: nobody reads them', async () => {
    const odd = commit({
      [mine]: 'two\n',
      'operators/mine/sub': { mode: '160000', oid: from },
      'operators/mine/link': { mode: '120000', content: '/etc/passwd' },
    })
    expect(judged(await look(commit({ [mine]: 'two\n' }, [odd])))).toEqual(lands)
  })
})
