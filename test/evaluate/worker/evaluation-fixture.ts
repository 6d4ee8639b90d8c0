// A repository and its mirror, for evaluating pull requests in separate processes.
import { join } from 'node:path'
import { toCommitSha, toPullNumber, toTreeSha } from '../../../src/pull-request/ids.ts'
import type { PullSnapshot } from '../../../src/pull-request/snapshot.ts'
import { createTestPullSnapshot } from '../../policy/verdict-inputs.ts'
import {
  createOriginRepository,
  createTemporaryDirectory,
  openAnonymousMirror,
} from '../../adapters/git/origin.ts'

export interface EvaluationFixture {
  /** The folder of the mirror. */
  readonly mirror: string
  /** Opens a pull request that adds these files to the base, with its commits in the mirror. */
  snapshotOf(changes: Readonly<Record<string, string>>): Promise<PullSnapshot>
  /** Opens one with nine new tree objects that expand to a billion paths. */
  createTreeBomb(): Promise<PullSnapshot>
  close(): Promise<void>
}

const baseBranchFiles = {
  'catalogs/v4.20/foo/catalog.yaml': 'schema: olm.package\nname: foo\ndefaultChannel: stable\n',
  'operators/foo/ci.yaml': '---\nreviewers:\n  - alice\n',
}

export async function createEvaluationFixture(): Promise<EvaluationFixture> {
  const folder = createTemporaryDirectory('look')
  const origin = createOriginRepository(join(folder.path, 'origin.git'))
  const directory = join(folder.path, 'mirror.git')
  const mirror = await openAnonymousMirror(directory, origin.url)
  const from = origin.commit(baseBranchFiles)
  origin.branch('main', from)
  let pulls = 0
  const open = async (head: string) => {
    const pull = toPullNumber(++pulls)
    origin.pull(pull, toCommitSha(head))
    await mirror.fetch('main', pull)
    return createTestPullSnapshot({ pull, base: from, head: toCommitSha(head) })
  }
  return {
    mirror: directory,
    snapshotOf: (changes) => open(origin.commit({ ...baseBranchFiles, ...changes }, [from])),
    createTreeBomb: () => {
      let tree = origin.git(['hash-object', '-w', '--stdin'], 'x')
      for (let level = 0; level < 9; level += 1) {
        const [mode, type] = level === 0 ? ['100644', 'blob'] : ['040000', 'tree']
        const entries = Array.from({ length: 10 }, (_, at) => `${mode} ${type} ${tree}\tn${at}\n`)
        tree = origin.git(['mktree'], entries.join(''))
      }
      const top = `${origin.git(['ls-tree', from])}\n040000 tree ${tree}\tbomb\n`
      return open(origin.commitTree(toTreeSha(origin.git(['mktree'], top)), [from]))
    },
    close: async () => {
      await mirror.close()
      folder.remove()
    },
  }
}
