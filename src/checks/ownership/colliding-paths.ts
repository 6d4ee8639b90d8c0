// Finds new paths that would overwrite others on some file systems: equal except for case or Unicode form.
import { createFinding } from '@catalog-bot/findings/rule'
import type { CheckInput } from '../check.ts'
import { confusableNameRule } from './rules.ts'

/** A package name as a Kubernetes label value: lowercase letters, digits, and inner hyphens, at most 63 characters. */
const packageNamePattern = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

/**
 * Valid names for new packages, and look-alikes. Existing names are not checked, so that stricter rules do not lock
 * any owner out.
 */
export const isPackageName = (name: string): boolean => packageNamePattern.test(name)

// Those that compatibility normalization does not fold. A few suffice, because new names must be ASCII.
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
  const taken = indexCollidingBasePaths(added, basePaths, removed)
  const collisions = new Map<string, PathCollision | undefined>()
  return added.flatMap((path) => {
    const found = findPathCollision(path, taken, collisions)
    return found
      ? [createFinding(confusableNameRule, { file: path, line: 1, column: 1 }, { path, ...found })]
      : []
  })
}

/**
 * The base's remaining paths and directories that a new path or one of its directories equals after folding, by folded
 * form. `sorted`: all paths of the base. The last of several wins.
 */
export function indexCollidingBasePaths(
  added: readonly string[],
  sorted: readonly string[],
  removed: ReadonlySet<string>,
): Map<string, string> {
  const addedPaths = new Set(added.flatMap((path) => listPathPrefixes(toCaseFoldedPath(path))))
  const taken = new Map<string, string>()
  let unwanted: string | undefined
  for (const path of sorted) {
    if (removed.has(path) || (unwanted !== undefined && path.startsWith(unwanted))) continue
    for (const at of listPathPrefixes(path)) {
      const folded = toCaseFoldedPath(at)
      if (!addedPaths.has(folded)) {
        // Nothing below is wanted: a slash remains a slash, although other letters can also become one.
        unwanted = `${at}/`
        break
      }
      taken.set(folded, at)
    }
  }
  return taken
}

/** `a/b/c` has the prefixes `a`, `a/b`, and `a/b/c`. */
function listPathPrefixes(path: string): readonly string[] {
  const segments = path.split('/')
  return segments.map((_, index) => segments.slice(0, index + 1).join('/'))
}

interface PathCollision {
  readonly name: string
  readonly like: string
}

/** The first directory of a path, or the path itself, that collides with `taken`; otherwise adds all to `taken`. */
function findPathCollision(
  path: string,
  taken: Map<string, string>,
  collisions: Map<string, PathCollision | undefined>,
): PathCollision | undefined {
  const open: string[] = []
  let above: PathCollision | undefined
  for (let at = path; ; at = at.slice(0, at.lastIndexOf('/'))) {
    if (collisions.has(at)) {
      above = collisions.get(at)
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
    collisions.set(name, above)
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
