// Classifies a path by name only. In doubt a path is infrastructure, which only maintainers may change (T08, T09, T10).
import { findContainingCatalog, type CatalogRoot, type Layout } from './layout.ts'
import type { PathRole } from '../change.ts'
import { findPathProblem } from './path-rules.ts'

const infrastructureRole: PathRole = { kind: 'infrastructure' }

/** MockGitHub reads the first that exists. */
export const codeownersPaths = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'] as const

/** Ownership files at any depth, because their readers search every directory. */
const ownerFileNames = new Set(['OWNERS', 'OWNERS_ALIASES', 'CATALOG_OWNERS', 'CODEOWNERS'])

/**
 * Directories of a catalog that hold one kind of blob (layouts L7 and L12). The content decides who owns their files.
 */
const blobTypeDirectories = new Set(['bundles', 'channels', 'packages', 'deprecations'])

/**
 * Classifies a path by the layout.
 *
 * - odd paths (path-rules.ts): infrastructure, with the reason in `odd`;
 * - owner files: CODEOWNERS, OWNERS, OWNERS_ALIASES, CATALOG_OWNERS anywhere, `config.yaml` at the root,
 *   `operators/<directory>/ci.yaml`. They speak for a directory when they lie in that package's;
 * - dot files and everything below dot directories: infrastructure, in a catalog too (.gitattributes and its kin
 *   change what others see). The one exception is `.indexignore` inside a package's directory: its patterns reach
 *   no further than that directory, and what they hide shows as removed. In a catalog's root it is infrastructure;
 * - `operators/<directory>/...`, `veneer/<directory>.yaml`, `catalog-templates/<directory>.yaml`: the package's sources.
 */
export function classifyPath(path: string, layout: Layout): PathRole {
  const odd = findPathProblem(path)
  if (odd !== undefined) return { kind: 'infrastructure', odd }
  const names = path.split('/')
  const name = names.at(-1) ?? ''
  const catalog = findContainingCatalog(path, layout)
  const directory = findPackageDirectory(path, names, catalog)
  if (path === 'config.yaml' || ownerFileNames.has(name) || isCiYaml(names)) {
    const speaksFor =
      name === 'OWNERS' || name === 'CATALOG_OWNERS' || name === 'ci.yaml' ? directory : undefined
    return speaksFor === undefined ? { kind: 'owners' } : { kind: 'owners', directory: speaksFor }
  }
  if (names.some((part, index) => part.startsWith('.') && !canStartWithDot(names, index, directory, catalog)))
    return infrastructureRole
  if (catalog) return { kind: 'catalog', catalog: catalog.root, directory: directory ?? '' }
  if (directory !== undefined) return { kind: 'operator', directory }
  return infrastructureRole
}

export function getCatalogSubdirectory(path: string, root: string): string | undefined {
  const inside = root === '' ? path : path.slice(root.length + 1)
  const slash = inside.indexOf('/')
  if (slash < 0) return undefined
  const directory = inside.slice(0, slash)
  return blobTypeDirectories.has(directory) ? undefined : directory
}

function findPackageDirectory(
  path: string,
  names: readonly string[],
  catalog: CatalogRoot | undefined,
): string | undefined {
  if (catalog) return getCatalogSubdirectory(path, catalog.root)
  if (names.length >= 3 && names[0] === 'operators') return names[1]
  if (names.length === 2 && (names[0] === 'veneer' || names[0] === 'catalog-templates'))
    return /^(.+)\.(?:ya?ml|json)$/.exec(names[1] ?? '')?.[1]
  return undefined
}

function isCiYaml(names: readonly string[]): boolean {
  return names.length === 3 && names[0] === 'operators' && names[2] === 'ci.yaml'
}

function canStartWithDot(
  names: readonly string[],
  index: number,
  directory: string | undefined,
  catalog: CatalogRoot | undefined,
): boolean {
  return (
    catalog !== undefined &&
    directory !== undefined &&
    index === names.length - 1 &&
    names[index] === '.indexignore'
  )
}
