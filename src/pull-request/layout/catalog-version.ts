// Platform versions in directory names: v4.20, 4.20, 4-20, v4-20, coo-product-v4.20, v5.0.
// They are compared as numbers, never as text: v4.9 sorts before v4.20, and v4.20 sorts before v5.0.

const versionNamePattern = /^v?(\d{1,4}(?:[._-]\d{1,4}){1,2})$/
const trailingVersionPattern = /^(.*[^-_.])[-_.]v?(\d{1,4}[._-]\d{1,4})$/

export interface VersionInName {
  readonly version: string
  readonly stem: string
}

/** Returns the version as `4.20`, or undefined if the name has no version. */
export function findVersionInName(name: string): VersionInName | undefined {
  const all = versionNamePattern.exec(name)
  if (all?.[1] !== undefined) return { version: toDottedVersion(all[1]), stem: '' }
  const end = trailingVersionPattern.exec(name)
  if (end?.[1] !== undefined && end[2] !== undefined)
    return { version: toDottedVersion(end[2]), stem: end[1] }
  return undefined
}

/** Normalized where possible. */
export function normalizeCatalogVersion(text: string): string {
  const found = findVersionInName(text)
  return found?.stem === '' ? found.version : text
}

/** The last version in the path. */
export function findVersionInPath(root: string): string | undefined {
  for (const name of root.split('/').reverse()) {
    const found = findVersionInName(name)
    if (found) return found.version
  }
  return undefined
}

/** The path without its versions. It is the same for all catalogs of one family. */
export function toVersionlessPath(root: string): string {
  return root
    .split('/')
    .map((name) => {
      const found = findVersionInName(name)
      if (!found) return name
      return found.stem === '' ? '<version>' : `${found.stem}-<version>`
    })
    .join('/')
}

/** Compares parts as numbers. Missing versions sort first, and other text sorts last. */
export function compareCatalogVersions(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  const left = parseVersionNumbers(a)
  const right = parseVersionNumbers(b)
  if (left === undefined || right === undefined)
    return Number(left === undefined) - Number(right === undefined) || (a < b ? -1 : a > b ? 1 : 0)
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? -1) - (right[index] ?? -1)
    if (difference !== 0) return difference
  }
  return 0
}

export function compareCatalogs(
  a: { readonly root: string; readonly version?: string | undefined },
  b: { readonly root: string; readonly version?: string | undefined },
): number {
  const [left, right] = [toVersionlessPath(a.root), toVersionlessPath(b.root)]
  if (left !== right) return left < right ? -1 : 1
  return compareCatalogVersions(a.version, b.version) || (a.root < b.root ? -1 : a.root > b.root ? 1 : 0)
}

function parseVersionNumbers(version: string): number[] | undefined {
  const found = findVersionInName(version)
  return found?.stem === '' ? found.version.split('.').map(Number) : undefined
}

function toDottedVersion(text: string): string {
  return text
    .split(/[._-]/)
    .map((part) => String(Number(part)))
    .join('.')
}
