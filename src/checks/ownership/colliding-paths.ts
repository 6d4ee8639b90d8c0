// Finds new paths that differ from another path only in case or Unicode form. On some file systems, one overwrites the
// other.
import { createFinding } from '@catalog-bot/findings/rule'
import { createPathListFilter, findLowerBound } from '../../pull-request/incremental-path-list.ts'
import type { CheckInput } from '../check.ts'
import { confusableNameRule } from './rules.ts'

/** A package name as a Kubernetes label value: lowercase letters, digits, and inner hyphens, at most 63 characters. */
const packageNamePattern = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

/**
 * Valid names for new packages, and look-alikes. Existing names are not checked, so that stricter rules do not lock
 * any owner out.
 */
export const isPackageName = (name: string): boolean => packageNamePattern.test(name)

// Look-alike letters that compatibility normalization does not fold. A small part of Unicode's confusables, which
// suffices because new names must be ASCII.
const latinLetterByConfusable: Readonly<Record<string, string>> = {
  а: 'a',
  в: 'b',
  с: 'c',
  ԁ: 'd',
  е: 'e',
  ѐ: 'e',
  һ: 'h',
  і: 'i',
  ї: 'i',
  ј: 'j',
  к: 'k',
  ӏ: 'l',
  м: 'm',
  п: 'n',
  о: 'o',
  р: 'p',
  ԛ: 'q',
  г: 'r',
  ѕ: 's',
  т: 't',
  ц: 'u',
  ѵ: 'v',
  ԝ: 'w',
  х: 'x',
  у: 'y',
  α: 'a',
  β: 'b',
  ε: 'e',
  η: 'n',
  ι: 'i',
  κ: 'k',
  ν: 'v',
  ο: 'o',
  ρ: 'p',
  σ: 'o',
  τ: 't',
  υ: 'u',
  χ: 'x',
  γ: 'y',
  ı: 'i',
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ħ: 'h',
}

export function findCollidingPaths({ change, basePaths }: Pick<CheckInput, 'change' | 'basePaths'>) {
  const removed = new Set(change.paths.filter(({ after }) => after === undefined).map(({ path }) => path))
  const added = change.paths
    .filter(({ before, after }) => before === undefined && after !== undefined)
    .map(({ path }) => path)
  if (added.length === 0) return []
  // Folding can turn other letters into slashes; then collisions can be anywhere.
  const isPlain = listNonAsciiPaths(basePaths).length === 0 && added.every(isAscii)
  const taken = isPlain
    ? indexBasePathsNearAddedPaths(added, basePaths, removed)
    : indexBasePathsByFoldedName(basePaths, removed)
  const judged = new Map<string, PathCollision | undefined>()
  return added.flatMap((path) => {
    const found = findPathCollision(path, taken, judged)
    return found
      ? [createFinding(confusableNameRule, { file: path, line: 1, column: 1 }, { path, ...found })]
      : []
  })
}

const isAscii = (path: string): boolean => /^[\u0000-\u007f]*$/.test(path)
const listNonAsciiPaths = createPathListFilter<string>((path) => !isAscii(path))

/** The base's remaining paths and directories by folded form. The last of several wins. */
export function indexBasePathsByFoldedName(basePaths: readonly string[], removed: ReadonlySet<string>) {
  const taken = new Map<string, string>()
  const walked = new Set<string>()
  for (const path of basePaths)
    // Files of one directory are adjacent in the list, so each directory is added once.
    for (let at = path; !removed.has(path) && !walked.has(at); at = at.slice(0, at.lastIndexOf('/'))) {
      walked.add(at)
      taken.set(toCaseFoldedPath(at), at)
      if (!at.includes('/')) break
    }
  return taken
}

/**
 * Like indexBasePathsByFoldedName, but only near the new paths. Requires ASCII paths, where folding keeps segments separate.
 */
export function indexBasePathsNearAddedPaths(
  added: readonly string[],
  sorted: readonly string[],
  removed: ReadonlySet<string>,
): Map<string, string> {
  const taken = new Map<string, string>()
  /** Directories of the base by folded form, with a trailing slash. */
  const twins = new Map<string, readonly string[]>([['', ['']]])
  const children = new Map<string, ReadonlyMap<string, readonly string[]>>()
  const childrenOf = (prefix: string) => {
    const known = children.get(prefix) ?? groupDirectoryEntriesByFoldedName(sorted, prefix)
    children.set(prefix, known)
    return known
  }
  for (const path of added) {
    let above = ''
    for (const name of toCaseFoldedPath(path).split('/')) {
      const here = above + name
      if (!twins.has(`${here}/`)) {
        const alike = (twins.get(above) ?? []).flatMap((prefix) =>
          (childrenOf(prefix).get(name) ?? []).map((child) => prefix + child),
        )
        twins.set(
          `${here}/`,
          alike.map((one) => `${one}/`),
        )
        const last = findNameWithLastRemainingFile(alike, sorted, removed)
        if (last !== undefined) taken.set(here, last)
      }
      above = `${here}/`
    }
  }
  return taken
}

/** Children of a directory in the sorted paths, by folded name. */
function groupDirectoryEntriesByFoldedName(sorted: readonly string[], prefix: string) {
  const found = new Map<string, string[]>()
  let at = findLowerBound(sorted, prefix)
  for (;;) {
    const path = sorted[at]
    if (path === undefined || !path.startsWith(prefix)) return found
    const slash = path.indexOf('/', prefix.length)
    const name = slash < 0 ? path.slice(prefix.length) : path.slice(prefix.length, slash)
    const folded = toCaseFoldedPath(name)
    const its = found.get(folded)
    if (its === undefined) found.set(folded, [name])
    else its.push(name)
    // '0' follows the slash in ASCII: skips everything below.
    at = slash < 0 ? at + 1 : findLowerBound(sorted, `${prefix}${name}0`, at)
  }
}

/** The candidate whose first remaining file comes last. */
function findNameWithLastRemainingFile(
  alike: readonly string[],
  sorted: readonly string[],
  removed: ReadonlySet<string>,
): string | undefined {
  let last: { readonly at: number; readonly name: string } | undefined
  for (const name of alike) {
    const at = findFirstRemainingFileIndex(name, sorted, removed)
    if (at !== undefined && (last === undefined || at > last.at)) last = { at, name }
  }
  return last?.name
}

function findFirstRemainingFileIndex(name: string, sorted: readonly string[], removed: ReadonlySet<string>) {
  const file = findLowerBound(sorted, name)
  if (sorted[file] === name && !removed.has(name)) return file
  for (let at = findLowerBound(sorted, `${name}/`); sorted[at]?.startsWith(`${name}/`); at++)
    if (!removed.has(sorted[at] ?? '')) return at
  return undefined
}

interface PathCollision {
  readonly name: string
  readonly like: string
}

/** The first directory of a path, or the path itself, that collides with `taken`; otherwise adds all to `taken`. */
function findPathCollision(
  path: string,
  taken: Map<string, string>,
  judged: Map<string, PathCollision | undefined>,
): PathCollision | undefined {
  const open: string[] = []
  let above: PathCollision | undefined
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
      const folded = toCaseFoldedPath(name)
      const like = taken.get(folded)
      if (like === undefined) taken.set(folded, name)
      else if (like !== name) above = { name, like }
    }
    judged.set(name, above)
  }
  return above
}

// prettier-ignore

/**
 * Two names with the same skeleton look alike. Ignores case, script, accents, and separators, and treats 0 and o, 1, i,
 * and l, rn and m, and vv and w as equal.
 */
export function computePackageNameSkeleton(name: string): string {
  return replaceConfusablesWithLatin(name)
    .replace(/[-_.‐-―−]/g, '')
    .replace(/0/g, 'o')
    .replace(/[1i|!]/g, 'l')
    .replace(/rn/g, 'm')
    .replace(/vv/g, 'w')
}

/** The name in Latin letters, without invisible characters. */
function replaceConfusablesWithLatin(name: string): string {
  if (/^[!-~]*$/.test(name)) return name.toLowerCase()
  const folded = name
    .normalize('NFKD')
    .replace(/\p{Mark}|\p{Format}|\p{White_Space}/gu, '')
    .toLowerCase()
  return [...folded].map((char) => latinLetterByConfusable[char] ?? char).join('')
}

/** Paths with the same result collide on file systems that ignore case or normalize accents. */
export function toCaseFoldedPath(path: string): string {
  return path.normalize('NFKC').toLowerCase()
}
