// Platform versions in directory names: v4.20, 4.20, 4-20, v4-20, coo-product-v4.20, v5.0.
// They are numbers, never text: v4.9 stands before v4.20 and v4.20 before v5.0.

const whole = /^v?(\d{1,4}(?:[._-]\d{1,4}){1,2})$/
const atEnd = /^(.*[^-_.])[-_.]v?(\d{1,4}[._-]\d{1,4})$/

export interface VersionInName {
  readonly version: string
  readonly stem: string
}

/** Normalized to `4.20`; undefined where the name has none. */
export function versionInName(name: string): VersionInName | undefined {
  const all = whole.exec(name)
  if (all?.[1] !== undefined) return { version: normalised(all[1]), stem: '' }
  const end = atEnd.exec(name)
  if (end?.[1] !== undefined && end[2] !== undefined) return { version: normalised(end[2]), stem: end[1] }
  return undefined
}

/** Normalized where possible. */
export function statedVersion(text: string): string {
  const found = versionInName(text)
  return found?.stem === '' ? found.version : text
}

/** The last version in the path. */
export function versionInPath(root: string): string | undefined {
  for (const name of root.split('/').reverse()) {
    const found = versionInName(name)
    if (found) return found.version
  }
  return undefined
}

/** The path without its versions, which is equal for catalogs of one family. */
export function shapeOf(root: string): string {
  return root
    .split('/')
    .map((name) => {
      const found = versionInName(name)
      if (!found) return name
      return found.stem === '' ? '<version>' : `${found.stem}-<version>`
    })
    .join('/')
}

/** Compares parts as numbers; missing versions come first, other text last. */
export function compareCatalogVersions(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  const left = numbers(a)
  const right = numbers(b)
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
  const [left, right] = [shapeOf(a.root), shapeOf(b.root)]
  if (left !== right) return left < right ? -1 : 1
  return compareCatalogVersions(a.version, b.version) || (a.root < b.root ? -1 : a.root > b.root ? 1 : 0)
}

function numbers(version: string): number[] | undefined {
  const found = versionInName(version)
  return found?.stem === '' ? found.version.split('.').map(Number) : undefined
}

function normalised(text: string): string {
  return text
    .split(/[._-]/)
    .map((part) => String(Number(part)))
    .join('.')
}
