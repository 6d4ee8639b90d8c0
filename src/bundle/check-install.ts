// Problems that show only when the bundle is installed or upgraded to.
import { compareFindings, type Finding } from '../findings/finding.ts'
import type { BundleFiles } from './bundle-files.ts'
import { checkExamples } from './kubernetes/check-examples.ts'
import { checkManifests } from './kubernetes/check-manifests.ts'
import { renderPlain } from './plain/render-plain.ts'
import type { RenderOptions } from './plain/rendering.ts'
import { checkCrdUpgrade } from './upgrade/check-crd-upgrade.ts'

/** Sorted. `before` has the files of the bundle to upgrade from. */
export function checkInstall(
  files: BundleFiles,
  options: RenderOptions,
  before?: BundleFiles,
): readonly Finding[] {
  return [
    ...renderPlain(files, options).findings,
    ...checkManifests(files),
    ...checkExamples(files),
    ...(before ? checkCrdUpgrade(before, files) : []),
  ].sort(compareFindings)
}
