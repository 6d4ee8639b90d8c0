// The author must fix a head that git rejects, and it is not fetched again. Runs on a real mirror.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { join } from 'node:path'
import { fetchCommits } from '../../src/evaluate/fetch-commits.ts'
import type { JobContext } from '../../src/jobs/job-context.ts'
import { toCommitSha, toPullNumber, toTreeSha, type CommitSha } from '../../src/pull-request/ids.ts'
import { openInMemoryCache } from '../../src/catalogs/memory-cache.ts'
import { openGitMirror, type GitMirror } from '../../src/adapters/git/mirror.ts'
import type { Cache } from '../../src/ports/cache.ts'
import { createSnapshot } from '../policy/gate-builders.ts'
import {
  createOriginRepository,
  createTemporaryDirectory,
  type OriginRepository,
} from '../adapters/git/origin.ts'

let temporaryDirectory: ReturnType<typeof createTemporaryDirectory>
let origin: OriginRepository
let gitMirror: GitMirror
let ctx: JobContext<Cache>
const fetchedRefs: string[] = []
beforeAll(async () => {
  temporaryDirectory = createTemporaryDirectory('bring')
  origin = createOriginRepository(join(temporaryDirectory.path, 'origin.git'))
  origin.branch('main', origin.commit({ x: '1' }))
  gitMirror = await openGitMirror({
    directory: join(temporaryDirectory.path, 'mirror.git'),
    url: origin.url,
    credential: async () => undefined,
  })
  const fetch: GitMirror['fetch'] = async (branch, pull) => {
    fetchedRefs.push(pull === undefined ? branch : `${branch} #${pull}`)
    await gitMirror.fetch(branch, pull)
  }
  ctx = {
    repository: { ...gitMirror, fetch },
    app: { store: openInMemoryCache({ now: () => 0 }) },
  } as unknown as JobContext<Cache>
})
afterAll(async () => {
  await gitMirror.close()
  temporaryDirectory.remove()
})

const pullNumber = toPullNumber(1)
const fetchCommitsForHead = (head: CommitSha) =>
  fetchCommits(createSnapshot({ pull: pullNumber, base: origin.tip('main'), baseRef: 'main', head }), ctx)

/** A commit whose tree has an entry `..`. */
function createMalformedCommit(): CommitSha {
  const blob = origin.git(['hash-object', '-w', '--stdin'], 'x')
  const tree = toTreeSha(origin.git(['mktree'], `100644 blob ${blob}\t..\n`))
  const text = `tree ${tree}\nparent ${origin.tip('main')}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n`
  return toCommitSha(origin.git(['hash-object', '-t', 'commit', '-w', '--stdin'], text))
}

test('reports why git rejects a head, and does not fetch that head again', async () => {
  const head = createMalformedCommit()
  origin.pull(1, head)
  const rejection = { kind: 'malformed', why: expect.stringMatching(/^object [0-9a-f]{40}: hasDotdot$/) }
  expect(await fetchCommitsForHead(head)).toMatchObject(rejection)
  fetchedRefs.length = 0
  expect(await fetchCommitsForHead(head)).toMatchObject(rejection)
  expect(fetchedRefs).toEqual(['main'])
})

test('the next head is fetched like any other', async () => {
  const head = origin.commit({ x: '2' }, [origin.tip('main')])
  origin.pull(1, head)
  expect(await fetchCommitsForHead(head)).toMatchObject({ kind: 'here', snapshot: { head } })
})

test('throws a corruption error if git rejects the base branch', async () => {
  const base = createMalformedCommit()
  origin.branch('main', base)
  const head = origin.commit({ x: '3' }, [base])
  origin.pull(1, head)
  await expect(fetchCommitsForHead(head)).rejects.toMatchObject({ code: 'corrupt' })
})
