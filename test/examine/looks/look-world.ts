// A repository and its mirror, for looks at pull requests by processes of their own.
import { join } from 'node:path'
import { commitSha, pullNumber, treeSha } from '../../../src/change/ids.ts'
import type { Snapshot } from '../../../src/change/snapshot.ts'
import { openMirror } from '../../../src/git/mirror.ts'
import { aSnapshot } from '../../gate/build.ts'
import { makeOrigin, temporary } from '../../git/origin.ts'

export interface World {
  /** The mirror's folder. */
  readonly mirror: string
  /** A pull request with these files beside those of the base; its commits are in the mirror. */
  snapshotOf(changes: Readonly<Record<string, string>>): Promise<Snapshot>
  /** One whose nine new tree objects stand for a billion paths. */
  bomb(): Promise<Snapshot>
  close(): Promise<void>
}

const base = {
  'catalogs/v4.20/foo/catalog.yaml': 'schema: olm.package\nname: foo\ndefaultChannel: stable\n',
  'operators/foo/ci.yaml': '---\nreviewers:\n  - alice\n',
}

export async function openWorld(): Promise<World> {
  const folder = temporary('look')
  const origin = makeOrigin(join(folder.path, 'origin.git'))
  const directory = join(folder.path, 'mirror.git')
  const mirror = await openMirror({
    directory,
    url: origin.url,
    credential: () => Promise.resolve(undefined),
  })
  const from = origin.commit(base)
  origin.branch('main', from)
  let pulls = 0
  const open = async (head: string) => {
    const pull = pullNumber(++pulls)
    origin.pull(pull, commitSha(head))
    await mirror.fetch('main', pull)
    return aSnapshot({ pull, base: from, head: commitSha(head) })
  }
  return {
    mirror: directory,
    snapshotOf: (changes) => open(origin.commit({ ...base, ...changes }, [from])),
    bomb: () => {
      let tree = origin.git(['hash-object', '-w', '--stdin'], 'x')
      for (let level = 0; level < 9; level += 1) {
        const [mode, type] = level === 0 ? ['100644', 'blob'] : ['040000', 'tree']
        const entries = Array.from({ length: 10 }, (_, at) => `${mode} ${type} ${tree}\tn${at}\n`)
        tree = origin.git(['mktree'], entries.join(''))
      }
      const top = `${origin.git(['ls-tree', from])}\n040000 tree ${tree}\tbomb\n`
      return open(origin.commitTree(treeSha(origin.git(['mktree'], top)), [from]))
    },
    close: async () => {
      await mirror.close()
      folder.remove()
    },
  }
}
