// `bundle validate|render REF|DIR`: a bundle image or directory. Exit 0 when it is fine, 1 when it is not, 2 when the
// command could not run.
import { statSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { BundleFiles } from '../bundle/bundle-files.ts'
import { readRegistryBundle } from '../bundle/registry-bundle.ts'
import { migrationProblem, renderBundle } from '../bundle/render-bundle.ts'
import { validateBundle } from '../bundle/validate-bundle.ts'
import { renderJson } from '../findings/render-json.ts'
import { pullBundle } from '../registry/pull-bundle.ts'
import { exitWith, print } from './output.ts'
import { filesBelow, withRegistry } from './pulled-bundles.ts'

export interface BundleOptions {
  readonly output: 'text' | 'json'
  readonly insecureRegistry?: readonly string[]
  readonly migrateLevel?: string
}

export async function validateOne(bundle: string, options: BundleOptions): Promise<void> {
  const { files } = await open(bundle, options)
  const { format, findings } = validateBundle(files, { packedSize: (bytes) => gzipSync(bytes).length })
  const passed = findings.every(({ severity }) => severity !== 'error')
  if (options.output === 'json') print(renderJson({ dir: bundle, passed, findings }))
  else {
    for (const { rule, severity, at, what, fix } of findings)
      print(`${at?.file ?? bundle}: ${severity}: ${what} (${rule})\n    ${fix}`)
    print(`${bundle}: ${format ?? 'no bundle'}, ${passed ? 'passed' : 'failed'}`)
  }
  exitWith(passed ? 0 : 1)
}

export async function renderOne(reference: string, options: BundleOptions): Promise<void> {
  const { files, image } = await open(reference, options)
  const { bundle, problem } = readRegistryBundle(files)
  if (!bundle) throw new Error(`${reference} cannot be rendered: ${problem}`)
  const csvMetadata = options.migrateLevel === 'bundle-object-to-csv-metadata'
  const unmigratable = csvMetadata ? migrationProblem(bundle, image) : undefined
  if (unmigratable !== undefined) throw new Error(`${reference} cannot be rendered: ${unmigratable}`)
  print(JSON.stringify(renderBundle(bundle, image, { csvMetadata }), undefined, 4))
}

/** A path that exists is a directory, as for opm; anything else is an image. */
async function open(
  bundle: string,
  options: BundleOptions,
): Promise<{ readonly files: BundleFiles; readonly image: string }> {
  const found = statSync(bundle, { throwIfNoEntry: false })
  if (found) {
    if (!found.isDirectory()) throw new Error(`${bundle} is not a directory`)
    return { files: filesBelow(bundle), image: '' }
  }
  return withRegistry(options.insecureRegistry, async (registry) => ({
    files: (await pullBundle(registry, bundle)).files,
    image: bundle,
  }))
}
