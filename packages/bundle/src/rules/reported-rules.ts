// Rules for problems that reading, rendering, or validating a bundle finds.
import { createRuleDefiner } from '@catalog-bot/findings/rule'
import { defineBundleRule } from '../bundle-rule.ts'

const defineNonOverridableBundleRule = createRuleDefiner({
  judges: 'bundle',
  check: 'images',
  since: '0.1.0',
  network: true,
})

export const bracesInPlainBundleRule = defineBundleRule<{ file: string }>({
  id: 'braces-in-plain-bundle',
  severity: 'warning',
  title: "Plain bundles don't contain Helm template syntax",
  what: ({ file }) => `${file} contains "{{"`,
  why: 'The plain provisioner wraps each object in a Helm chart, so Helm evaluates the double braces as template syntax.',
  fix: 'Render the manifests before you add them to the bundle.',
})

export const brokenChartRule = defineBundleRule<{ problem: string }>({
  id: 'broken-chart',
  severity: 'error',
  title: 'A chart in a bundle is complete',
  what: ({ problem }) => `the chart can't be installed: ${problem}`,
  why: 'Helm cannot install the chart, or installs nothing.',
  fix: 'Correct Chart.yaml, and vendor the dependencies into charts/.',
})

export const brokenExamplesRule = defineBundleRule<{ annotation: string }>({
  id: 'broken-examples',
  severity: 'warning',
  title: 'Examples are a JSON list of objects',
  what: ({ annotation }) => `the annotation "${annotation}" is not a JSON list of objects that have a kind`,
  why: 'Consoles show neither a form nor an example for the Operator.',
  fix: 'Write a JSON list of objects that have apiVersion, kind, and metadata.',
})

export const collidingFileNamesRule = defineBundleRule<{ file: string; other: string; key: string }>({
  id: 'colliding-file-names',
  severity: 'error',
  title: 'File names in a bundle remain unique after unpacking',
  what: ({ file, other, key }) => `${file} and ${other} both become "${key}" when OLM unpacks the bundle`,
  why: 'One of the two files overwrites the other, and it is unpredictable which one remains.',
  fix: 'Rename one of the files. OLM replaces all characters except letters, digits, dots, dashes, and underscores.',
})

export const hiddenBundleFileRule = defineBundleRule<{ file: string }>({
  id: 'hidden-bundle-file',
  severity: 'warning',
  title: "Bundles don't contain hidden files",
  what: ({ file }) => `${file} is hidden because its name starts with a dot`,
  why: 'opm ignores hidden files in manifests/ but reads them in metadata/, and operator-sdk rejects the bundle.',
  fix: 'Rename the file, or exclude it from the image.',
})

export const invalidCsvNameRule = defineBundleRule<{ name: string }>({
  id: 'invalid-csv-name',
  severity: 'error',
  title: 'ClusterServiceVersion names are valid object names and label values',
  what: ({ name }) => `"${name}" is not a valid ClusterServiceVersion name`,
  why: 'On the cluster, OLM uses the ClusterServiceVersion name as an object name and as a label value.',
  fix: 'Use at most 63 lowercase letters, digits, dashes, and dots, for example foo.v1.0.0.',
})

export const invalidExampleRule = defineBundleRule<{ example: string; problem: string }>({
  id: 'invalid-example',
  check: 'install',
  severity: 'warning',
  title: 'Every example matches the schema of its CRD',
  what: ({ example, problem }) => `the example ${example} does not match the schema of its CRD: ${problem}`,
  why: 'Users who start from the example in a console get an error.',
  fix: 'Correct the example. To verify the result, run `kubectl create --dry-run=server`.',
})

export const kindNotBundledRule = defineBundleRule<{ file: string; kind: string; name: string }>({
  id: 'kind-not-bundled',
  severity: 'error',
  title: 'Bundles contain only kinds of objects that OLM can install',
  what: ({ file, kind, name }) =>
    `${file} is a ${kind} ("${name}"), a kind that OLM does not install from bundles`,
  why: 'With OLM v0, the entire installation fails if one object has an unsupported kind.',
  fix: 'Remove the file from the bundle, and let the Operator create the object at run time.',
})

export const labelsDisagreeRule = defineBundleRule<{ key: string; label: string; annotation: string }>({
  id: 'labels-disagree',
  severity: 'warning',
  title: "A bundle image's labels match its annotations",
  what: ({ key, label, annotation }) =>
    `the image label ${key} is "${label}", but the annotation is "${annotation}"`,
  why: 'The annotations file takes precedence, so tools that read only the labels see different values.',
  fix: 'Build the image from a Dockerfile that matches the annotations.',
})

export const largeBundleContentRule = defineBundleRule<{
  bytes: number
  limit: number
  largest: readonly string[]
}>({
  id: 'large-bundle-content',
  severity: 'warning',
  title: 'A bundle stays well below the maximum size that OLM can unpack',
  what: ({ bytes, limit, largest }) =>
    `the packed bundle uses ${bytes} of the allowed ${limit} bytes; largest files: ${largest.join(', ')}`,
  why: 'If the next release adds another CRD version, OLM v0 might be unable to unpack the bundle.',
  fix: 'Shorten descriptions in CRDs, shrink the icon, or move samples and dashboards out of the bundle.',
})

export const malformedDependencyRule = defineBundleRule<{ type: string; problem: string }>({
  id: 'malformed-dependency',
  severity: 'error',
  title: 'Every dependency is complete and has a known type',
  what: ({ type, problem }) => `a dependency of type "${type}" is invalid: ${problem}`,
  why: "OLM can't resolve the dependency, or resolves it incorrectly.",
  fix: 'Correct the dependency in metadata/dependencies.yaml.',
})

export const misnamedAnnotationsFileRule = defineBundleRule<{ file: string }>({
  id: 'misnamed-annotations-file',
  severity: 'error',
  title: 'Annotations are in metadata/annotations.yaml',
  what: ({ file }) => `the annotations are in ${file}, not in metadata/annotations.yaml`,
  why: 'opm accepts annotations in a file with any name, but OLM v0 treats that file as payload and OLM v1 rejects the bundle.',
  fix: 'Rename the file to metadata/annotations.yaml.',
})

export const missingBundleAnnotationRule = defineBundleRule<{ key: string; file: string }>({
  id: 'missing-bundle-annotation',
  severity: 'error',
  title: 'A bundle has all required annotations',
  what: ({ key, file }) => `${file} does not have the annotation "${key}"`,
  why: "Tools read a bundle's package, channels, format, and directories from its annotations.",
  fix: 'Add the annotation. `opm alpha bundle generate` adds all required annotations.',
})

export const missingManifestFieldRule = defineBundleRule<{ object: string; field: string }>({
  id: 'missing-manifest-field',
  check: 'install',
  severity: 'warning',
  title: 'Every manifest has all fields that Kubernetes requires',
  what: ({ object, field }) => `${object} does not set ${field}, which Kubernetes requires`,
  why: 'The API server rejects objects without required fields, so the installation fails.',
  fix: ({ field }) => `Add ${field} to the manifest.`,
})

export const mistypedManifestFieldRule = defineBundleRule<{
  object: string
  field: string
  wanted: string
  found: string
}>({
  id: 'mistyped-manifest-field',
  check: 'install',
  severity: 'error',
  title: 'Every manifest field has the type that Kubernetes expects',
  what: ({ object, field, wanted, found }) =>
    `${object}: ${field} is ${found}, but Kubernetes expects ${wanted}`,
  why: 'The API server rejects the object, so the installation fails.',
  fix: 'Correct the value. Put quotes around strings that look like numbers.',
})

export const movedBundleDirectoryRule = defineBundleRule<{ key: string; value: string; wanted: string }>({
  id: 'moved-bundle-directory',
  severity: 'error',
  title: 'Annotations point to manifests/ and metadata/',
  what: ({ key, value, wanted }) =>
    `the annotation "${key}" is "${value}", but opm and OLM always read ${wanted}`,
  why: "opm and OLM ignore the value of this annotation, so they don't find files in other directories.",
  fix: 'Move the files to manifests/ and metadata/, and correct the annotation.',
})

export const nestedBundleDirectoryRule = defineBundleRule<{ path: string }>({
  id: 'nested-bundle-directory',
  severity: 'error',
  title: 'Bundle directories have no subdirectories',
  what: ({ path }) => `${path} is in a subdirectory of manifests/ or metadata/`,
  why: "OLM v0 can't unpack a bundle that has subdirectories, and opm ignores the files in them.",
  fix: 'Move the file up into manifests/ or metadata/.',
})

export const oversizedBundleContentRule = defineBundleRule<{
  bytes: number
  limit: number
  largest: readonly string[]
}>({
  id: 'oversized-bundle-content',
  severity: 'error',
  title: 'An unpacked bundle fits in a ConfigMap',
  what: ({ bytes, limit, largest }) =>
    `the packed bundle is ${bytes} bytes, but the limit is ${limit}; largest files: ${largest.join(', ')}`,
  why: "OLM v0 unpacks a bundle into a single ConfigMap and fails if the bundle doesn't fit.",
  fix: 'Shorten descriptions in CRDs, shrink the icon, or move samples and dashboards out of the bundle.',
})

export const rejectedByOlmV1Rule = defineBundleRule<{ reason: string }>({
  id: 'refused-by-olm-v1',
  check: 'install',
  severity: 'warning',
  title: "OLM v1 can render the bundle's manifests",
  what: ({ reason }) => `OLM v1 does not install the bundle: ${reason}`,
  why: "The Operator can't be installed with OLM v1, although OLM v0 might still accept the bundle.",
  fix: 'Fix the problem that OLM v1 reports, or document that the Operator requires OLM v0.',
})

export const serviceAccountBundledRule = defineBundleRule<{ name: string; file: string }>({
  id: 'service-account-bundled',
  severity: 'error',
  title: "OLM creates the Operator's service accounts",
  what: ({ name, file }) =>
    `${file} defines the service account "${name}", which one of the Operator's deployments uses`,
  why: 'OLM creates this service account as well, and the two definitions conflict during upgrades.',
  fix: 'Remove the file from the bundle.',
})

export const severalCsvsRule = defineBundleRule<{ names: readonly string[] }>({
  id: 'several-csvs',
  severity: 'error',
  title: 'A bundle has one ClusterServiceVersion',
  what: ({ names }) => `the bundle has ${names.length} ClusterServiceVersions: ${names.join(', ')}`,
  why: 'opm uses the first ClusterServiceVersion by file name and ignores the others, while OLM v1 uses the last one.',
  fix: 'Keep only one ClusterServiceVersion. A bundle contains a single version of a single Operator.',
})

export const severalDocumentsInManifestRule = defineBundleRule<{ file: string; documents: number }>({
  id: 'several-documents-in-manifest',
  severity: 'warning',
  title: 'A manifest file contains one document',
  what: ({ file, documents }) => `${file} contains ${documents} documents, but only the first is read`,
  why: 'opm and OLM v0 silently ignore all documents after the first, while OLM v1 reads all of them.',
  fix: 'Put each object in a separate file.',
})

export const undecodableManifestRule = defineBundleRule<{ file: string; reason: string }>({
  id: 'undecodable-manifest',
  severity: 'error',
  title: 'Every manifest is a Kubernetes object',
  what: ({ file, reason }) => `${file} is not a Kubernetes object: ${reason}`,
  why: 'opm and OLM silently ignore the file, so its object is never created.',
  fix: "Correct the file, or move it out of manifests/ if it isn't a manifest.",
})

export const unknownManifestFieldRule = defineBundleRule<{ object: string; field: string }>({
  id: 'unknown-manifest-field',
  check: 'install',
  severity: 'warning',
  title: 'Manifests contain only fields that Kubernetes defines',
  what: ({ object, field }) => `${object} has a field that Kubernetes does not define: ${field}`,
  why: 'The API server drops unknown fields, so this field has no effect.',
  fix: "Correct the field's name or indentation, or remove the field.",
})

export const unownedCrdRule = defineBundleRule<{ crd: string; file: string }>({
  id: 'unowned-crd',
  severity: 'error',
  title: 'The ClusterServiceVersion owns all CRDs in the bundle',
  what: ({ crd, file }) => `${file} defines ${crd}, which the ClusterServiceVersion does not own`,
  why: "OLM installs the CRD without recording an owner, so it can't detect conflicts with other Operators.",
  fix: 'List the CRD under spec.customresourcedefinitions.owned.',
})

export const unreadableBundleRule = defineNonOverridableBundleRule<{ reason: string; isEmpty?: true }>({
  id: 'unreadable-bundle',
  severity: 'error',
  title: 'opm can read the bundle',
  what: ({ reason }) => `opm can't read this bundle: ${reason}`,
  why: "opm can't add the bundle to a catalog, and OLM can't install it.",
  fix: 'Correct the bundle directory, rebuild the image, and use its new digest.',
})

export const unsafeCrdUpgradeRule = defineBundleRule<{
  crd: string
  problem: string
  /** OLM v1 allows it. */ isSilent?: true
}>({
  id: 'unsafe-crd-upgrade',
  check: 'install',
  severity: 'warning',
  title: 'New versions of a CRD accept existing objects',
  what: ({ crd, problem }) => `upgrading the CustomResourceDefinition ${crd} is not safe: ${problem}`,
  why: 'Existing objects might become invalid or be lost. OLM v1 rejects most such upgrades.',
  fix: 'Make the new CRD accept everything that the old CRD accepts, or add a new API version with conversion.',
})

export const unusableInstallModesRule = defineBundleRule<{ problem: string }>({
  id: 'unusable-install-modes',
  severity: 'error',
  title: 'A ClusterServiceVersion supports at least one install mode',
  what: ({ problem }) => `the ClusterServiceVersion can't be installed: ${problem}`,
  why: "OLM can't match the ClusterServiceVersion to an OperatorGroup.",
  fix: 'Set spec.installModes. Most clusters use AllNamespaces.',
})

export const wrongBundleFormatRule = defineNonOverridableBundleRule<{ named: string; found: string }>({
  id: 'wrong-bundle-format',
  severity: 'error',
  title: 'A bundle has the format that its annotations declare',
  what: ({ named, found }) =>
    `the annotations declare the format ${named}, but the files have the format ${found}`,
  why: 'Tools use the declared format to decide how to install the bundle.',
  fix: 'Correct either the mediatype annotation or the files.',
})
