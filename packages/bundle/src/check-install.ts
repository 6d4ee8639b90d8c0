// Problems that appear only when the bundle is installed or used for an upgrade.
import { compareFindings, type Finding } from '@catalog-bot/findings/finding'
import type { BundleFiles } from './bundle-files.ts'
import { checkCsvExamples } from './kubernetes/check-examples.ts'
import { checkManifests } from './kubernetes/check-manifests.ts'
import { renderPlainManifests } from './plain/render-plain.ts'
import type { PlainRenderOptions } from './plain/rendering.ts'
import { checkCrdUpgrade } from './upgrade/check-crd-upgrade.ts'

/** Sorted. `before` has the files of the bundle to upgrade from. */
export function checkBundleInstall(
  files: BundleFiles,
  options: PlainRenderOptions,
  before?: BundleFiles,
): readonly Finding[] {
  return [
    ...renderPlainManifests(files, options).findings,
    ...checkManifests(files),
    ...checkCsvExamples(files),
    ...(before ? checkCrdUpgrade(before, files) : []),
  ].sort(compareFindings)
}
