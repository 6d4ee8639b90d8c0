// Valid names for new packages, and look-alikes. Existing names are not checked, so that stricter rules do not lock any
// owner out.

/** A package name as a Kubernetes label value: lowercase letters, digits, and inner hyphens, at most 63 characters. */
const packageNamePattern = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

export const isPackageName = (name: string): boolean => packageNamePattern.test(name)

// Look-alike letters that compatibility normalization does not fold. A small part of Unicode's confusables, which
// suffices because new names must be ASCII.
const latinLetterByLookalike: Readonly<Record<string, string>> = {
  а: 'a', в: 'b', с: 'c', ԁ: 'd', е: 'e', ѐ: 'e', һ: 'h', і: 'i', ї: 'i', ј: 'j', к: 'k', ӏ: 'l', м: 'm', п: 'n',
  о: 'o', р: 'p', ԛ: 'q', г: 'r', ѕ: 's', т: 't', ц: 'u', ѵ: 'v', ԝ: 'w', х: 'x', у: 'y',
  α: 'a', β: 'b', ε: 'e', η: 'n', ι: 'i', κ: 'k', ν: 'v', ο: 'o', ρ: 'p', σ: 'o', τ: 't', υ: 'u', χ: 'x', γ: 'y',
  ı: 'i', ł: 'l', ø: 'o', đ: 'd', ħ: 'h',
} // prettier-ignore

/**
 * Two names with the same skeleton look alike. Ignores case, script, accents, and separators, and treats 0 and o, 1, i,
 * and l, rn and m, and vv and w as equal.
 */
export function computeNameSkeleton(name: string): string {
  return replaceLookalikesWithLatin(name)
    .replace(/[-_.‐-―−]/g, '')
    .replace(/0/g, 'o')
    .replace(/[1i|!]/g, 'l')
    .replace(/rn/g, 'm')
    .replace(/vv/g, 'w')
}

/** The name in Latin letters, without invisible characters. */
function replaceLookalikesWithLatin(name: string): string {
  if (/^[!-~]*$/.test(name)) return name.toLowerCase()
  const folded = name
    .normalize('NFKD')
    .replace(/\p{Mark}|\p{Format}|\p{White_Space}/gu, '')
    .toLowerCase()
  return [...folded].map((char) => latinLetterByLookalike[char] ?? char).join('')
}

/** Paths with the same result collide on file systems that ignore case or normalize accents. */
export function toCaseFoldedPath(path: string): string {
  return path.normalize('NFKC').toLowerCase()
}
