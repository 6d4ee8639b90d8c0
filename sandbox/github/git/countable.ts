// Whether GitHub would count what a commit changes. A few tree objects can stand for a billion paths, and git's own diff goes
// through all of them before it says anything: GitHub answers all the same, with what it has. What it says then is not
// documented; here it is nothing, the worst for whoever believes it.
import { spawn } from 'node:child_process'
import { closedEnvironment } from './git-store.ts'
import { looseCommit } from './loose-history.ts'
import { looseOr } from './loose-objects.ts'
import { looseCount } from './loose-trees.ts'

/** Far above every catalog repository. */
const mostPaths = 500_000
const known = new Map<string, Promise<boolean>>()
const mostKnown = 1000

/** Lists the commit's paths as far as that. */
export function isCountable(path: string, commit: string): Promise<boolean> {
  const found = known.get(commit) ?? count(path, commit)
  known.set(commit, found)
  for (const oldest of known.keys()) if (known.size > mostKnown) known.delete(oldest)
  return found
}

async function count(path: string, commit: string): Promise<boolean> {
  return await looseOr(
    () => looseCount(path, looseCommit(path, commit).tree) <= mostPaths,
    () => list(path, commit),
  )
}

async function list(path: string, commit: string): Promise<boolean> {
  const args = ['--git-dir', path, 'ls-tree', '-r', '-z', '--name-only', '--full-tree', commit]
  const child = spawn('git', args, { env: closedEnvironment, stdio: ['ignore', 'pipe', 'ignore'] })
  let paths = 0
  child.stdout.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(0); at >= 0; at = chunk.indexOf(0, at + 1)) paths += 1
    if (paths > mostPaths) child.kill('SIGKILL')
  })
  await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return paths <= mostPaths
}
