// Finds new paths that differ from another path only by case or Unicode form: on some file systems, one overwrites the
// other.
import type { Finding } from '../../findings/finding.ts'
import { finding } from '../../findings/rule.ts'
import { sublist } from '../../change/patched-list.ts'
import { firstNotBefore } from '../../change/sorted-paths.ts'
import type { CheckInput } from '../check.ts'
import { foldedPath } from './package-name.ts'
import { confusableName } from './rules/confusable-name.ts'

export function findCollidingPaths({
  change,
  basePaths,
}: Pick<CheckInput, 'change' | 'basePaths'>): Finding[] {
  const gone = new Set(change.paths.filter(({ after }) => after === undefined).map(({ path }) => path))
  const added = change.paths
    .filter(({ before, after }) => before === undefined && after !== undefined)
    .map(({ path }) => path)
  if (added.length === 0) return []
  // Folding can turn other letters into slashes; then collisions can be anywhere.
  const isPlain = oddPathsIn(basePaths).length === 0 && added.every(isAscii)
  const taken = isPlain ? takenNear(added, basePaths, gone) : takenAnywhere(basePaths, gone)
  const judged = new Map<string, Collision | undefined>()
  return added.flatMap((path) => {
    const found = collisionOf(path, taken, judged)
    return found ? [finding(confusableName, { file: path, line: 1, column: 1 }, { path, ...found })] : []
  })
}

const isAscii = (path: string): boolean => /^[\u0000-\u007f]*$/.test(path)
const oddPathsIn = sublist<string>((path) => !isAscii(path))

/** The base's remaining paths and directories by folded form. The last of several wins. */
export function takenAnywhere(basePaths: readonly string[], gone: ReadonlySet<string>): Map<string, string> {
  const taken = new Map<string, string>()
  const walked = new Set<string>()
  for (const path of basePaths)
    // Files of one directory are adjacent in the list, so each directory is added once.
    for (let at = path; !gone.has(path) && !walked.has(at); at = at.slice(0, at.lastIndexOf('/'))) {
      walked.add(at)
      taken.set(foldedPath(at), at)
      if (!at.includes('/')) break
    }
  return taken
}

/** The same, only near the new paths. ASCII paths only, where folding keeps path segments separate. */
export function takenNear(
  added: readonly string[],
  sorted: readonly string[],
  gone: ReadonlySet<string>,
): Map<string, string> {
  const taken = new Map<string, string>()
  /** Directories of the base by folded form, with a trailing slash. */
  const twins = new Map<string, readonly string[]>([['', ['']]])
  const children = new Map<string, ReadonlyMap<string, readonly string[]>>()
  const childrenOf = (prefix: string) => {
    const known = children.get(prefix) ?? foldedChildren(sorted, prefix)
    children.set(prefix, known)
    return known
  }
  for (const path of added) {
    let above = ''
    for (const name of foldedPath(path).split('/')) {
      const here = above + name
      if (!twins.has(`${here}/`)) {
        const alike = (twins.get(above) ?? []).flatMap((prefix) =>
          (childrenOf(prefix).get(name) ?? []).map((child) => prefix + child),
        )
        twins.set(
          `${here}/`,
          alike.map((one) => `${one}/`),
        )
        const last = lastStaying(alike, sorted, gone)
        if (last !== undefined) taken.set(here, last)
      }
      above = `${here}/`
    }
  }
  return taken
}

/** Children of a directory in the sorted paths, by folded name. */
function foldedChildren(sorted: readonly string[], prefix: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  let at = firstNotBefore(sorted, prefix, itself)
  for (;;) {
    const path = sorted[at]
    if (path === undefined || !path.startsWith(prefix)) return found
    const slash = path.indexOf('/', prefix.length)
    const name = slash < 0 ? path.slice(prefix.length) : path.slice(prefix.length, slash)
    const folded = foldedPath(name)
    const its = found.get(folded)
    if (its === undefined) found.set(folded, [name])
    else its.push(name)
    // '0' follows the slash in ASCII: skips everything below.
    at = slash < 0 ? at + 1 : firstNotBefore(sorted, `${prefix}${name}0`, itself, at)
  }
}

/** The candidate whose first remaining file comes last. */
function lastStaying(
  alike: readonly string[],
  sorted: readonly string[],
  gone: ReadonlySet<string>,
): string | undefined {
  let last: { readonly at: number; readonly name: string } | undefined
  for (const name of alike) {
    const at = firstStaying(name, sorted, gone)
    if (at !== undefined && (last === undefined || at > last.at)) last = { at, name }
  }
  return last?.name
}

function firstStaying(
  name: string,
  sorted: readonly string[],
  gone: ReadonlySet<string>,
): number | undefined {
  const file = firstNotBefore(sorted, name, itself)
  if (sorted[file] === name && !gone.has(name)) return file
  for (let at = firstNotBefore(sorted, `${name}/`, itself); sorted[at]?.startsWith(`${name}/`); at++)
    if (!gone.has(sorted[at] ?? '')) return at
  return undefined
}

const itself = (path: string): string => path

interface Collision {
  readonly name: string
  readonly like: string
}

/** The first directory of a path, or the path itself, that collides with `taken`; otherwise adds all to `taken`. */
function collisionOf(
  path: string,
  taken: Map<string, string>,
  judged: Map<string, Collision | undefined>,
): Collision | undefined {
  const open: string[] = []
  let above: Collision | undefined
  for (let at = path; ; at = at.slice(0, at.lastIndexOf('/'))) {
    if (judged.has(at)) {
      above = judged.get(at)
      break
    }
    open.push(at)
    if (!at.includes('/')) break
  }
  for (const name of open.reverse()) {
    if (above === undefined) {
      const folded = foldedPath(name)
      const like = taken.get(folded)
      if (like === undefined) taken.set(folded, name)
      else if (like !== name) above = { name, like }
    }
    judged.set(name, above)
  }
  return above
}
