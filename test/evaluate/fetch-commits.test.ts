// The author must fix a head that git rejects, and it is not fetched again. Runs on a real mirror.
import { afterAll, expect, test } from '@jest/globals'
import { join } from 'node:path'
import { fetchCommits } from '../../src/evaluate/evaluate-in-worker.ts'
import type { JobContext } from '../../src/jobs/job-context.ts'
import { toCommitSha, toPullNumber, toTreeSha, type CommitSha } from '../../src/pull-request/ids.ts'
import { createInMemoryCache } from '../../src/catalogs/memory-cache.ts'
import type { GitMirror } from '../../src/adapters/git/mirror.ts'
import type { Cache } from '../../src/ports/cache.ts'
import { createTestPullSnapshot } from '../policy/verdict-inputs.ts'
import {
  createOriginRepository,
  createTemporaryDirectory,
  openAnonymousMirror,
} from '../adapters/git/origin.ts'

const fetchedGitRefs: string[] = []
const temporaryDirectory = createTemporaryDirectory('bring')
const originRepository = createOriginRepository(join(temporaryDirectory.path, 'origin.git'))
originRepository.branch('main', originRepository.commit({ x: '1' }))
const gitMirror = await openAnonymousMirror(join(temporaryDirectory.path, 'mirror.git'), originRepository.url)
const fetchAndRecord: GitMirror['fetch'] = async (branch, pull) => {
  fetchedGitRefs.push(pull === undefined ? branch : `${branch} #${pull}`)
  await gitMirror.fetch(branch, pull)
}
const jobContext = {
  repository: { ...gitMirror, fetch: fetchAndRecord },
  app: { store: createInMemoryCache({ now: () => 0 }) },
} as unknown as JobContext<Cache>
afterAll(async () => {
  await gitMirror.close()
  temporaryDirectory.remove()
})

const pullNumber = toPullNumber(1)
const fetchCommitsForHead = (head: CommitSha) =>
  fetchCommits(
    createTestPullSnapshot({ pull: pullNumber, base: originRepository.tip('main'), baseRef: 'main', head }),
    jobContext,
  )

/** A commit whose tree has an entry `..`. */
function createMalformedCommit(): CommitSha {
  const blob = originRepository.git(['hash-object', '-w', '--stdin'], 'x')
  const tree = toTreeSha(originRepository.git(['mktree'], `100644 blob ${blob}\t..\n`))
  const text = `tree ${tree}\nparent ${originRepository.tip('main')}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n`
  return toCommitSha(originRepository.git(['hash-object', '-t', 'commit', '-w', '--stdin'], text))
}

test('reports why git rejects a head, and does not fetch that head again', async () => {
  const head = createMalformedCommit()
  originRepository.pull(1, head)
  const rejection = { kind: 'malformed', why: expect.stringMatching(/^object [0-9a-f]{40}: hasDotdot$/) }
  expect(await fetchCommitsForHead(head)).toMatchObject(rejection)
  fetchedGitRefs.length = 0
  expect(await fetchCommitsForHead(head)).toMatchObject(rejection)
  expect(fetchedGitRefs).toEqual(['main'])
})

test('the next head is fetched like any other', async () => {
  const head = originRepository.commit({ x: '2' }, [originRepository.tip('main')])
  originRepository.pull(1, head)
  expect(await fetchCommitsForHead(head)).toMatchObject({ kind: 'here', snapshot: { head } })
})

test('throws a corruption error if git rejects the base branch', async () => {
  const base = createMalformedCommit()
  originRepository.branch('main', base)
  const head = originRepository.commit({ x: '3' }, [base])
  originRepository.pull(1, head)
  await expect(fetchCommitsForHead(head)).rejects.toMatchObject({ code: 'corrupt' })
})
