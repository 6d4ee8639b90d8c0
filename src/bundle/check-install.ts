// What is wrong with a bundle beyond what validating it shows: what comes up when it is installed, or upgraded to.
import { compareFindings, type Finding } from '../findings/finding.ts'
import type { BundleFiles } from './bundle-files.ts'
import { checkExamples } from './kubernetes/check-examples.ts'
import { checkManifests } from './kubernetes/check-manifests.ts'
import { renderPlain } from './plain/render-plain.ts'
import type { RenderOptions } from './plain/rendering.ts'
import { checkCrdUpgrade } from './upgrade/check-crd-upgrade.ts'

/** All of it, sorted. `before` are the files of the bundle that is upgraded from, where there is one. */
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
