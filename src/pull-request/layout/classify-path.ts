// Classifies a path by name only. An ambiguous path is infrastructure, which only maintainers can change
// (docs/dev/threats.md#t08, #t09, and #t10).
import { findContainingCatalog, type CatalogRoot, type RepositoryLayout } from './layout.ts'
import type { PathRole } from '../change.ts'

// The paths that a catalog repository can contain (docs/dev/threats.md#t06 and #t08): printable ASCII of limited length.
// Other paths are rejected, because programs might interpret them differently.
/** The longest path in public catalog repositories has 180 characters and 8 levels. */
const maxPathLength = 512

const maxPathDepth = 24

const maxPathSegmentLength = 200

const allowedPathCharactersPattern = /^[A-Za-z0-9._+=,@~ ()[\]{}^!#%&$'-]+$/

// Device names and names that some operating systems cannot check out.
const windowsDeviceNamePattern = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?$/i

const gitDirectoryPattern = /^(?:\.git|git~\d+)(?:[ .]*)$/i

const infrastructurePathRole: PathRole = { kind: 'infrastructure' }

/** GitHub reads the first file that exists. */
export const codeownersPaths = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'] as const

/** Ownership files at any depth, because the tools that read them search every directory. */
const ownerFileNames = new Set(['OWNERS', 'OWNERS_ALIASES', 'CATALOG_OWNERS', 'CODEOWNERS'])

/** Catalog directories with one kind of blob (layouts L7 and L12). The content determines who owns their files. */
const fbcSchemaDirectoryNames = new Set(['bundles', 'channels', 'packages', 'deprecations'])

/**
 * Classifies a path according to the layout.
 *
 * - odd paths (findPathProblem()): infrastructure, with the reason in `odd`;
 * - owner files: CODEOWNERS, OWNERS, OWNERS_ALIASES, CATALOG_OWNERS anywhere, `config.yaml` at the root,
 *   `operators/<directory>/ci.yaml`. They apply to a package if they are in its directory;
 * - dot files and everything below dot directories: infrastructure, even in a catalog, because files such as
 *   .gitattributes change what reviewers see. The only exception is `.indexignore` in a package directory. Its patterns
 *   apply only to that directory, and the files that it hides count as removed. In the root of a catalog, it is
 *   infrastructure;
 * - `operators/<directory>/...`, `veneer/<directory>.yaml`, `catalog-templates/<directory>.yaml`: the package's sources.
 */
export function classifyPath(path: string, layout: RepositoryLayout): PathRole {
  const odd = findPathProblem(path)
  if (odd !== undefined) return { kind: 'infrastructure', odd }
  const names = path.split('/')
  const name = names.at(-1) ?? ''
  const catalog = findContainingCatalog(path, layout)
  const directory = findPackageDirectory(path, names, catalog)
  if (path === 'config.yaml' || ownerFileNames.has(name) || isCiYamlPath(names)) {
    const speaksFor =
      name === 'OWNERS' || name === 'CATALOG_OWNERS' || name === 'ci.yaml' ? directory : undefined
    return speaksFor === undefined ? { kind: 'owners' } : { kind: 'owners', directory: speaksFor }
  }
  if (
    names.some(
      (part, index) => part.startsWith('.') && !isPackageIgnoreFile(names, index, directory, catalog),
    )
  )
    return infrastructurePathRole
  if (catalog) return { kind: 'catalog', catalog: catalog.root, directory: directory ?? '' }
  if (directory !== undefined) return { kind: 'operator', directory }
  return infrastructurePathRole
}

export function getCatalogSubdirectory(path: string, root: string): string | undefined {
  const inside = root === '' ? path : path.slice(root.length + 1)
  const slash = inside.indexOf('/')
  if (slash < 0) return undefined
  const directory = inside.slice(0, slash)
  return fbcSchemaDirectoryNames.has(directory) ? undefined : directory
}

function findPackageDirectory(path: string, names: readonly string[], catalog: CatalogRoot | undefined) {
  if (catalog) return getCatalogSubdirectory(path, catalog.root)
  if (names.length >= 3 && names[0] === 'operators') return names[1]
  if (names.length === 2 && (names[0] === 'veneer' || names[0] === 'catalog-templates'))
    return /^(.+)\.(?:ya?ml|json)$/.exec(names[1] ?? '')?.[1]
  return undefined
}

function isCiYamlPath(names: readonly string[]): boolean {
  return names.length === 3 && names[0] === 'operators' && names[2] === 'ci.yaml'
}

function isPackageIgnoreFile(
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

/** Returns a reason for display, or undefined for a valid path. */
export function findPathProblem(path: string): string | undefined {
  if (path === '') return 'the path is empty'
  if (path.length > maxPathLength) return `the path is longer than ${maxPathLength} characters`

  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return 'the path contains a control character'
  if (path.includes('\\')) return 'the path contains a backslash'

  if (/[^\u0000-\u007f]/.test(path)) return 'the path contains a non-ASCII character'
  if (path.startsWith('/')) return 'the path starts with a slash'
  const names = path.split('/')
  if (names.length > maxPathDepth) return `the path has more than ${maxPathDepth} levels`
  for (const name of names) {
    if (name === '') return 'the path has an empty component'
    if (name === '.' || name === '..') return `the path has the component ${name}`
    if (gitDirectoryPattern.test(name)) return 'the path has a component that Git reserves'
    if (name.length > maxPathSegmentLength)
      return `the path has a component longer than ${maxPathSegmentLength} characters`
    if (!allowedPathCharactersPattern.test(name))
      return 'the path contains a character that some operating systems do not support'
    if (/[. ]$/.test(name)) return 'the path has a component that ends with a dot or a space'
    if (/^[- ]/.test(name)) return 'the path has a component that starts with a dash or a space'
    if (windowsDeviceNamePattern.test(name)) return 'the path has a component that is a reserved device name'
  }
  return undefined
}
