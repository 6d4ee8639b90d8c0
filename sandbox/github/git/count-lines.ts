// How many files and lines differ between two commits, renames followed, as GitHub shows it on a pull request.
import { git } from './git-store.ts'
import { looseCommit } from './loose-history.ts'
import { looseOr, NotLoose, readLoose } from './loose-objects.ts'
import { looseDifference, type TreeEntry } from './loose-trees.ts'

export interface LineCounts {
  readonly files: number
  readonly additions: number
  readonly deletions: number
}

export async function countLines(path: string, before: string, after: string): Promise<LineCounts> {
  return await looseOr(
    () => plainCounts(path, before, after),
    async () => {
      const lines = (await git(path, 'diff', '-M', '--numstat', before, after, '--'))
        .split('\n')
        .filter(Boolean)
      const sum = (column: number): number =>
        lines.reduce((total, line) => total + (Number(line.split('\t')[column]) || 0), 0)
      return { files: lines.length, additions: sum(0), deletions: sum(1) }
    },
  )
}

/** Where no file can be a renamed one, and no lines can be paired in two ways; NotLoose for all else. */
function plainCounts(path: string, before: string, after: string): LineCounts {
  const differences = looseDifference(path, looseCommit(path, before).tree, looseCommit(path, after).tree)
  const isOneSided =
    differences.every((it) => it.before !== undefined) || differences.every((it) => it.after !== undefined)
  if (!isOneSided) throw new NotLoose('renames')
  let [additions, deletions] = [0, 0]
  for (const difference of differences) {
    const [was, is] = [linesOf(path, difference.before), linesOf(path, difference.after)]
    if (was === undefined || is === undefined) continue
    let start = 0
    while (start < was.length && start < is.length && was[start] === is[start]) start += 1
    let end = 0
    const rest = Math.min(was.length, is.length) - start
    while (end < rest && was.at(-1 - end) === is.at(-1 - end)) end += 1
    const gone = was.slice(start, was.length - end)
    const come = new Set(is.slice(start, is.length - end))
    if (gone.some((line) => come.has(line))) throw new NotLoose('lines that are in both')
    deletions += gone.length
    additions += is.length - end - start
  }
  return { files: differences.length, additions, deletions }
}

/** Lines with their ends, so that a last one without is another. Undefined for what git takes to be no text. */
function linesOf(path: string, entry: TreeEntry | undefined): string[] | undefined {
  if (entry === undefined) return []
  if (entry.mode === '160000') throw new NotLoose('a submodule')
  const { bytes } = readLoose(path, entry.id)
  if (bytes.subarray(0, 8000).includes(0)) return undefined
  return bytes.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? []
}
