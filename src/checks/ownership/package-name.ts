// Which names a new package may have, and which look like one that exists (T06).
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
  return latinOf(name)
    .replace(/[-_.‐-―−]/g, '')
    .replace(/0/g, 'o')
    .replace(/[1i|!]/g, 'l')
    .replace(/rn/g, 'm')
    .replace(/vv/g, 'w')
}

/** The letters of a name as Latin ones, without what is not drawn. */
function latinOf(name: string): string {
  // Nearly every name is plain ASCII, in which there is nothing to fold.
  if (/^[!-~]*$/.test(name)) return name.toLowerCase()
  const folded = name
    .normalize('NFKD')
    .replace(/\p{Mark}|\p{Format}|\p{White_Space}/gu, '')
    .toLowerCase()
  return [...folded].map((char) => lookAlikes[char] ?? char).join('')
}

/** A path as a file system without case and with one form of accents would see it: two such paths collide there. */
export function foldedPath(path: string): string {
  return path.normalize('NFKC').toLowerCase()
}
