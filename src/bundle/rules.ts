// Every rule about the inside of a bundle, in the order of their ids. A plain array: no discovery, no registration.
import type { AnyRule } from '../findings/rule.ts'
import { bracesInPlainBundle } from './rules/braces-in-plain-bundle.ts'
import { brokenChart } from './rules/broken-chart.ts'
import { brokenExamples } from './rules/broken-examples.ts'
import { invalidCsvName } from './rules/invalid-csv-name.ts'
import { kindNotBundled } from './rules/kind-not-bundled.ts'
import { largeBundleContent } from './rules/large-bundle-content.ts'
import { malformedDependency } from './rules/malformed-dependency.ts'
import { misnamedAnnotationsFile } from './rules/misnamed-annotations-file.ts'
import { missingBundleAnnotation } from './rules/missing-bundle-annotation.ts'
import { movedBundleDirectory } from './rules/moved-bundle-directory.ts'
import { nestedBundleDirectory } from './rules/nested-bundle-directory.ts'
import { oversizedBundleContent } from './rules/oversized-bundle-content.ts'
import { serviceAccountBundled } from './rules/service-account-bundled.ts'
import { severalCsvs } from './rules/several-csvs.ts'
import { severalDocumentsInManifest } from './rules/several-documents-in-manifest.ts'
import { undecodableManifest } from './rules/undecodable-manifest.ts'
import { unownedCrd } from './rules/unowned-crd.ts'
import { unreadableBundle } from './rules/unreadable-bundle.ts'
import { unusableInstallModes } from './rules/unusable-install-modes.ts'
import { wrongBundleFormat } from './rules/wrong-bundle-format.ts'

export const bundleRules: readonly AnyRule[] = [
  bracesInPlainBundle,
  brokenChart,
  brokenExamples,
  invalidCsvName,
  kindNotBundled,
  largeBundleContent,
  malformedDependency,
  misnamedAnnotationsFile,
  missingBundleAnnotation,
  movedBundleDirectory,
  nestedBundleDirectory,
  oversizedBundleContent,
  serviceAccountBundled,
  severalCsvs,
  severalDocumentsInManifest,
  undecodableManifest,
  unownedCrd,
  unreadableBundle,
  unusableInstallModes,
  wrongBundleFormat,
]
