// The third stage: reads the checks' other inputs, apart from reviews and commands, from the repository and memory.
import { imageNames } from '../checks/bundles/becoming.ts'
import { ownerFilePaths } from '../checks/ownership/ownership.ts'
import type { CheckInput } from '../checks/check.ts'
import type { BlobSha, TreeSha } from '../change/ids.ts'
import type { ReadTree } from '../ports/repository.ts'
import { readText } from './catalogs/catalog-loader.ts'
import { packagesByDirectory } from './catalogs/packages-by-directory.ts'
import { publishedBundles } from './catalogs/published-bundles.ts'
import type { Comparison } from './compare-trees.ts'
import type { ExamineOptions } from './examine-options.ts'
import { readBecoming } from './read-becoming.ts'
import { readBundleDirectories } from './read-bundle-directories.ts'
import { readTemplates } from './read-templates.ts'
import { servedPackages } from './served-packages.ts'
import type { Standing } from './stand-on-base.ts'

/** Rejects with a GitError or StoreError. */
export async function readCheckInput(
  { snapshot, baseTree, basePaths, config, configDigest, epoch }: Standing,
  { change, layout, links, look, resultPaths, resultTree, carried, pulls }: Comparison,
  { loader, memory, demandsSignatures = false, opm }: ExamineOptions,
): Promise<CheckInput> {
  const places = { repository: look, loader, tree: baseTree }
  const directories = await packagesByDirectory(change, layout, basePaths, places)
  const published = await publishedBundles(change, layout, basePaths, places)
  const sides = { repository: look, loader, base: baseTree, result: resultTree }
  const bundleDirectories = await readBundleDirectories(change, { ...sides, layout })
  const ownerPaths = ownerFilePaths(basePaths, change)
  return {
    // Logins stay with the account first seen, because a released login can be registered by another person (T25).
    accounts: await memory.firstSeenAccounts(snapshot.repository, new Map()),
    snapshot,
    config,
    configDigest,
    epoch,
    layout,
    change,
    basePaths,
    packagesByDirectory: directories,
    published,
    ownerFiles: await readOwnerFiles(look, { base: baseTree, result: resultTree }, ownerPaths),
    approvals: [],
    bundleDirectories,
    becoming: await readBecoming(bundleDirectories, sides, imageNames(config.bundles.image)),
    carried: { ...carried.commits, pulls },
    demandsSignatures,
    served: await servedPackages(change, look, resultTree, opm),
    templates: await readTemplates(change, layout, {
      links: links.map(({ path }) => path),
      repository: look,
      loader,
      config,
      base: { tree: baseTree, paths: basePaths },
      result: { tree: resultTree, paths: resultPaths },
    }),
  }
}

export async function readOwnerFiles(
  repository: ReadTree,
  trees: { readonly base: TreeSha; readonly result: TreeSha },
  paths: readonly string[],
): Promise<CheckInput['ownerFiles']> {
  const texts = new Map<BlobSha, Promise<string>>()
  const textOf = (oid: BlobSha): Promise<string> => {
    const text = texts.get(oid) ?? readText(repository, oid)
    texts.set(oid, text)
    return text
  }
  const readSide = async (tree: TreeSha): Promise<ReadonlyMap<string, string>> => {
    const found = await Promise.all(
      paths.map(async (path) => {
        const entry = await repository.entry(tree, path)
        const isFile = entry?.mode.startsWith('100') === true
        return isFile ? [[path, await textOf(entry.oid)] as const] : []
      }),
    )
    return new Map(found.flat())
  }
  const [base, result] = await Promise.all([readSide(trees.base), readSide(trees.result)])
  return { base, result }
}
