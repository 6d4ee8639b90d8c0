// The number of files and lines that differ between two commits, following renames, as GitHub shows it on a pull
// request.
import { runGitForText } from './git-store.ts'
import { readLooseCommitObject } from './loose-history.ts'
import { readLooseObjectsOrRunGit, NotLooseObjectError, readLooseObject } from './loose-objects.ts'
import { diffLooseTreeObjects, type LooseTreeObjectEntry } from './loose-trees.ts'

export interface ChangedLineCounts {
  readonly files: number
  readonly additions: number
  readonly deletions: number
}

export async function countChangedLines(
  path: string,
  before: string,
  after: string,
): Promise<ChangedLineCounts> {
  return await readLooseObjectsOrRunGit(
    () => countChangedLinesInLooseObjects(path, before, after),
    async () => {
      const lines = (await runGitForText(path, 'diff', '-M', '--numstat', before, after, '--'))
        .split('\n')
        .filter(Boolean)
      const sum = (column: number): number =>
        lines.reduce((total, line) => total + (Number(line.split('\t')[column]) || 0), 0)
      return { files: lines.length, additions: sum(0), deletions: sum(1) }
    },
  )
}

/**
 * Only for differences where no file can be renamed and lines can be paired in only one way. Otherwise throws
 * NotLooseObjectError.
 */
function countChangedLinesInLooseObjects(path: string, before: string, after: string): ChangedLineCounts {
  const differences = diffLooseTreeObjects(
    path,
    readLooseCommitObject(path, before).tree,
    readLooseCommitObject(path, after).tree,
  )
  const isOneSided =
    differences.every((it) => it.before !== undefined) || differences.every((it) => it.after !== undefined)
  if (!isOneSided) throw new NotLooseObjectError('renames')
  let [additions, deletions] = [0, 0]
  for (const difference of differences) {
    const [was, is] = [readBlobLines(path, difference.before), readBlobLines(path, difference.after)]
    if (was === undefined || is === undefined) continue
    let start = 0
    while (start < was.length && start < is.length && was[start] === is[start]) start += 1
    let end = 0
    const rest = Math.min(was.length, is.length) - start
    while (end < rest && was.at(-1 - end) === is.at(-1 - end)) end += 1
    const removedLines = was.slice(start, was.length - end)
    const come = new Set(is.slice(start, is.length - end))
    if (removedLines.some((line) => come.has(line))) throw new NotLooseObjectError('lines that are in both')
    deletions += removedLines.length
    additions += is.length - end - start
  }
  return { files: differences.length, additions, deletions }
}

/**
 * Lines with their line endings, so that a last line without one is distinct. Undefined for files that Git treats
 * as binary.
 */
function readBlobLines(path: string, entry: LooseTreeObjectEntry | undefined): string[] | undefined {
  if (entry === undefined) return []
  if (entry.mode === '160000') throw new NotLooseObjectError('a submodule')
  const { bytes } = readLooseObject(path, entry.id)
  if (bytes.subarray(0, 8000).includes(0)) return undefined
  return bytes.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? []
}
