// Which names a new package or path may have, and which look like one that exists (T06, T08).
// Names that exist already are never judged: a strict rule must not lock out who was there first.

/** A package name as Kubernetes takes it for a label: lower case, digits, inner hyphens, at most 63 characters. */
const grammar = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

export const isPackageName = (name: string): boolean => grammar.test(name)

// Letters of other scripts that are drawn like Latin ones, where compatibility normalisation does not fold them.
// A small part of Unicode's confusables: new names are ASCII anyway, this only helps to say what they look like.
const lookAlikes: Readonly<Record<string, string>> = {
  а: 'a', в: 'b', с: 'c', ԁ: 'd', е: 'e', ѐ: 'e', һ: 'h', і: 'i', ї: 'i', ј: 'j', к: 'k', ӏ: 'l', м: 'm', п: 'n',
  о: 'o', р: 'p', ԛ: 'q', г: 'r', ѕ: 's', т: 't', ц: 'u', ѵ: 'v', ԝ: 'w', х: 'x', у: 'y',
  α: 'a', β: 'b', ε: 'e', η: 'n', ι: 'i', κ: 'k', ν: 'v', ο: 'o', ρ: 'p', σ: 'o', τ: 't', υ: 'u', χ: 'x', γ: 'y',
  ı: 'i', ł: 'l', ø: 'o', đ: 'd', ħ: 'h',
} // prettier-ignore

/**
 * What a name looks like at a glance: two names with the same skeleton can be taken for one another. Case, script,
 * accents and separators do not count; 0 and o, 1, i and l, rn and m, vv and w count as one.
 */
export function skeleton(name: string): string {
  const folded = name
    .normalize('NFKD')
    .replace(/\p{Mark}|\p{Format}|\p{White_Space}/gu, '')
    .toLowerCase()
  const latin = [...folded].map((char) => lookAlikes[char] ?? char).join('')
  return latin
    .replace(/[-_.‐-―−]/g, '')
    .replace(/0/g, 'o')
    .replace(/[1i|!]/g, 'l')
    .replace(/rn/g, 'm')
    .replace(/vv/g, 'w')
}

/** A path as a file system without case and with one form of accents would see it: two such paths collide there. */
export function foldedPath(path: string): string {
  return path.normalize('NFKC').toLowerCase()
}

// Deep and long paths break tools before they help anybody; the deepest real path has six components.
const longestPath = 512
const longestName = 255
const deepest = 16

/** Characters of a package's file names: letters, digits and `._+@~=,-`, not beginning with a hyphen. */
const plainName = /^[A-Za-z0-9_.+@~=,][A-Za-z0-9_.+@~=,-]*$/

// Names that Windows takes for devices, with or without an extension.
const deviceName = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?$/i

/** Why a path is odd, for people; undefined for an ordinary one. */
export function oddness(path: string): string | undefined {
  if (path.length > longestPath) return `it is longer than ${longestPath} characters`
  const names = path.split('/')
  if (names.length > deepest) return `it is more than ${deepest} directories deep`
  for (const name of names) {
    if (name === '') return 'it has an empty component'
    if (name === '.' || name === '..') return `it has the component ${name}`
    if (name.length > longestName) return `one of its names is longer than ${longestName} characters`
    if (/^\.git$/i.test(name)) return 'it reaches into .git'
    if (!plainName.test(name)) return 'a name in it is not made of letters, digits and ._+@~=,- alone'
    if (name.endsWith('.')) return 'a name in it ends in a dot'
    if (deviceName.test(name)) return `${name} is the name of a device on some systems`
  }
  return undefined
}
