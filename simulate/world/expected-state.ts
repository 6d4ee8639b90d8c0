// Determines the expected properties of a tree of the simulated repository in a few lines that share no code with
// catalog-bot: package owners, catalog validity, and protected files. Supports only the trees that
// repository-contents.ts writes.
import type { TreeSha } from '../../src/pull-request/ids.ts'
import type { GitObjects } from '../git/git-objects.ts'
import {
  botConfigPath,
  isReferenceToMissingImage,
  getOwnersFilePath,
  maintainersFilePath,
  packageOwnerTeam,
} from './repository-contents.ts'

interface CatalogBlob {
  readonly schema: string
  readonly name: string
  readonly package?: string
  readonly image?: string
  readonly entries?: readonly { readonly name: string; readonly replaces?: string }[]
}

/** The package whose directories contain the path. Undefined outside all packages. */
export function findPackageByPath(path: string): string | undefined {
  return /^(?:catalog|operators)\/([a-z]+)\/\w[\w.-]*$/.exec(path)?.[1]
}

export function listChangedPaths(objects: GitObjects, from: TreeSha, to: TreeSha): readonly string[] {
  const [before, after] = [objects.tree(from), objects.tree(to)]
  return [...new Set([...before.keys(), ...after.keys()])].filter((path) => {
    const [was, is] = [before.get(path), after.get(path)]
    return was?.oid !== is?.oid || was?.mode !== is?.mode
  })
}

/** Login lists. Logins are case-insensitive. */
function parseLoginList(text: string | undefined): readonly string[] {
  const inside = /\[(.*)\]/.exec(text ?? '')?.[1] ?? ''
  return inside.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim().toLowerCase()]))
}

export const getPackageOwners = (objects: GitObjects, tree: TreeSha, name: string): readonly string[] =>
  parseLoginList(objects.text(tree, getOwnersFilePath(name)))

/** Additional owners of a package, from the configuration and not from the package's own file. */
export const getPackageOwnersFromTeam = (
  objects: GitObjects,
  tree: TreeSha,
  name: string,
): readonly string[] =>
  (objects.text(tree, botConfigPath) ?? '').includes(`{${name}: [coast/${packageOwnerTeam.name}]}`)
    ? packageOwnerTeam.members
    : []

export const getMaintainers = (objects: GitObjects, tree: TreeSha): readonly string[] =>
  parseLoginList(objects.text(tree, maintainersFilePath))

export type ExpectedBotConfig = {
  readonly isReadable: boolean
  readonly merges: boolean
  readonly confirms: boolean
}

export function parseExpectedBotConfig(objects: GitObjects, tree: TreeSha): ExpectedBotConfig {
  const text = objects.text(tree, botConfigPath) ?? ''
  return {
    isReadable: !text.includes('enabeld'),
    merges: !text.includes('enabled: false'),
    confirms: text.includes('confirmUnknownPushes: true'),
  }
}

function parseCatalogBlobs(text: string): readonly CatalogBlob[] | undefined {
  try {
    return text
      .trim()
      .split(/(?<=\}) (?=\{)/)
      .map((part) => JSON.parse(part) as CatalogBlob)
  } catch {
    return undefined
  }
}

/** The packages that a catalog file refers to. Empty if the file cannot be parsed. */
export function findReferencedPackages(text: string | undefined): readonly string[] {
  const blobs = text === undefined ? [] : (parseCatalogBlobs(text) ?? [])
  const names = blobs.map((blob) => (blob.schema === 'olm.package' ? blob.name : (blob.package ?? '')))
  return [...new Set(names)].filter((name) => name !== '')
}

/**
 * The faults in the catalog of a tree, in words. Empty if the catalog is valid, as far as these trees can be
 * invalid.
 */
export function findCatalogProblems(objects: GitObjects, tree: TreeSha): readonly string[] {
  const faults: string[] = []
  const byPackage = new Map<string, CatalogBlob[]>()
  for (const [path, { oid, mode }] of objects.tree(tree)) {
    if (!path.startsWith('catalog/')) continue
    if (mode !== '100644') faults.push(`${path} has the mode ${mode}`)
    const blobs = parseCatalogBlobs(Buffer.from(objects.blob(oid)).toString())
    if (blobs === undefined) faults.push(`${path} cannot be read`)
    for (const blob of blobs ?? []) {
      const of = blob.schema === 'olm.package' ? blob.name : (blob.package ?? '')
      byPackage.set(of, [...(byPackage.get(of) ?? []), blob])
    }
  }
  for (const [name, blobs] of byPackage) faults.push(...findPackageProblems(name, blobs))
  return faults
}

function findPackageProblems(name: string, blobs: readonly CatalogBlob[]): readonly string[] {
  const faults: string[] = []
  const of = (schema: string) => blobs.filter((blob) => blob.schema === schema)
  if (of('olm.package').length !== 1) faults.push(`${name} is declared ${of('olm.package').length} times`)
  const bundles = of('olm.bundle')
  const names = new Set(bundles.map((bundle) => bundle.name))
  if (names.size !== bundles.length) faults.push(`${name} has a bundle twice`)
  for (const { image = '' } of bundles)
    if (isReferenceToMissingImage(image)) faults.push(`${image} does not exist`)
  for (const { name: channel, entries = [] } of of('olm.channel')) {
    for (const entry of entries)
      if (!names.has(entry.name)) faults.push(`${name}/${channel} names ${entry.name}, which is not a bundle`)
    const replaced = new Set(entries.map(({ replaces }) => replaces))
    const heads = entries.filter((entry) => !replaced.has(entry.name))
    if (heads.length !== 1) faults.push(`${name}/${channel} has ${heads.length} heads`)
  }
  return faults
}
