// A head that git refuses is the author's to mend, is said once, and costs nothing until there is another; all on a real mirror.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { join } from 'node:path'
import { bringCommits } from '../../../src/app/jobs/bring-commits.ts'
import type { JobContext } from '../../../src/app/jobs/job-context.ts'
import { commitSha, pullNumber, treeSha, type CommitSha } from '../../../src/change/ids.ts'
import { openMemoryCache } from '../../../src/examine/memory-cache.ts'
import { openMirror, type Mirror } from '../../../src/git/mirror.ts'
import type { Cache } from '../../../src/ports/cache.ts'
import { aSnapshot } from '../../gate/build.ts'
import { makeOrigin, temporary, type Origin } from '../../git/origin.ts'

let folder: ReturnType<typeof temporary>
let origin: Origin
let mirror: Mirror
let place: JobContext<Cache>
const fetched: string[] = []
beforeAll(async () => {
  folder = temporary('bring')
  origin = makeOrigin(join(folder.path, 'origin.git'))
  origin.branch('main', origin.commit({ x: '1' }))
  mirror = await openMirror({
    directory: join(folder.path, 'mirror.git'),
    url: origin.url,
    credential: async () => undefined,
  })
  const fetch: Mirror['fetch'] = async (branch, pull) => {
    fetched.push(pull === undefined ? branch : `${branch} #${pull}`)
    await mirror.fetch(branch, pull)
  }
  place = {
    repository: { ...mirror, fetch },
    app: { store: openMemoryCache({ now: () => 0 }) },
  } as unknown as JobContext<Cache>
})
afterAll(async () => {
  await mirror.close()
  folder.remove()
})

const pull = pullNumber(1)
const bring = (head: CommitSha) =>
  bringCommits(aSnapshot({ pull, base: origin.tip('main'), baseRef: 'main', head }), place)

/** A commit whose tree has an entry `..`. */
function malformed(): CommitSha {
  const blob = origin.git(['hash-object', '-w', '--stdin'], 'x')
  const tree = treeSha(origin.git(['mktree'], `100644 blob ${blob}\t..\n`))
  const text = `tree ${tree}\nparent ${origin.tip('main')}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n`
  return commitSha(origin.git(['hash-object', '-t', 'commit', '-w', '--stdin'], text))
}

test('a head that git refuses is named with its fault, and is not fetched again', async () => {
  const head = malformed()
  origin.pull(1, head)
  const refused = { kind: 'malformed', why: expect.stringMatching(/^object [0-9a-f]{40}: hasDotdot$/) }
  expect(await bring(head)).toMatchObject(refused)
  fetched.length = 0
  expect(await bring(head)).toMatchObject(refused)
  expect(fetched).toEqual(['main'])
})

test('the next head is fetched like any other', async () => {
  const head = origin.commit({ x: '2' }, [origin.tip('main')])
  origin.pull(1, head)
  expect(await bring(head)).toMatchObject({ kind: 'here', snapshot: { head } })
})

test('a base branch that git refuses is nobody’s fault here', async () => {
  const base = malformed()
  origin.branch('main', base)
  const head = origin.commit({ x: '3' }, [base])
  origin.pull(1, head)
  await expect(bring(head)).rejects.toMatchObject({ code: 'corrupt' })
})
