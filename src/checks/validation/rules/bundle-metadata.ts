import { installableObjectKinds } from '@catalog-bot/bundle/plain/supported-kinds'
import { defineRule, defineBundleBlobRule, definePackageRule, toFindingLocation } from '../catalog-rule.ts'
import { listCsvMetadata, getStringField, type BundleView } from '../view/catalog-view.ts'

export const noInstallModeRule = definePackageRule<{ bundle: string; modes: number }>({
  id: 'no-install-mode',
  severity: 'warning',
  title: 'Every channel head supports at least one install mode',
  what: ({ bundle, modes }) =>
    `${bundle} ${modes === 0 ? 'lists no install modes' : 'does not support any of the install modes that it lists'}`,
  why: 'The Operator never starts, because it does not support the namespaces of any OperatorGroup.',
  fix: 'In the ClusterServiceVersion, mark at least one of these install modes as supported: OwnNamespace, SingleNamespace, MultiNamespace, or AllNamespaces.',
  *find(its) {
    const heads = new Set(its.channels.map(({ head }) => head?.name))
    for (const bundle of its.bundles) {
      const { name, place } = bundle.blob
      if (!heads.has(name)) continue
      for (const { metadata, mark } of listCsvMetadata(bundle)) {
        if (metadata.installModes.some(({ supported }) => supported)) continue
        const data = { bundle: name, modes: metadata.installModes.length }
        yield { at: toFindingLocation(place, mark), about: [its.name, name], data }
      }
    }
  },
})

export const unsupportedKindRule = defineBundleBlobRule<{ bundle: string; kind: string; name: string }>({
  id: 'kind-olm-refuses',
  severity: 'warning',
  title: 'Bundles contain only kinds that OLM installs',
  what: ({ bundle, kind, name }) =>
    `${bundle} contains the ${kind} "${name}", but OLM does not install this kind from bundles`,
  why: 'In OLM v0, the entire installation fails if the bundle contains even one object of an unsupported kind.',
  fix: 'Remove the object from the bundle, and let the Operator create it at run time.',
  *find(bundle) {
    for (const { value, mark } of bundle.properties('olm.bundle.object')) {
      const [kind, name] = [getStringField(value, 'kind'), getStringField(value, 'name')]
      if (kind !== '' && !installableObjectKinds.has(kind))
        yield { mark, about: [kind, name], data: { kind, name } }
    }
  },
})

/**
 * Both bundle metadata formats in one package (olm.bundle.object and olm.csv.metadata). Usually, a migration is
 * unfinished.
 */
export const mixedMetadataFormatsRule = definePackageRule<{
  objects: string
  metadata: string
  withObjects: number
}>({
  id: 'mixed-metadata-formats',
  severity: 'warning',
  title: 'All bundles of a package use the same metadata format',
  what: ({ objects, metadata, withObjects }) =>
    objects === metadata
      ? `${objects} has both olm.bundle.object and olm.csv.metadata`
      : `the package has ${withObjects} bundle${withObjects === 1 ? '' : 's'} with olm.bundle.object (such as ${objects}) and others with olm.csv.metadata (such as ${metadata})`,
  why: 'Full manifests make catalogs many times larger, and consoles show full manifests and olm.csv.metadata differently.',
  fix: 'Render the catalog with `--migrate-level bundle-object-to-csv-metadata`.',
  *find(its) {
    // Bundles without an image exist only as objects and cannot be migrated.
    const installable = its.bundles.filter(({ blob }) => blob.image !== '')
    const withObjects = installable.filter((bundle) => hasPropertyOfType(bundle, 'olm.bundle.object'))
    const withMetadata = installable.filter((bundle) => hasPropertyOfType(bundle, 'olm.csv.metadata'))
    const [objects] = withObjects
    const metadata = withMetadata.find((bundle) => bundle === objects) ?? withMetadata[0]
    if (objects === undefined || metadata === undefined) return
    yield {
      at: toFindingLocation(objects.blob.place),
      about: [its.name],
      data: { objects: objects.blob.name, metadata: metadata.blob.name, withObjects: withObjects.length },
    }
  },
})

function hasPropertyOfType(bundle: BundleView, type: string): boolean {
  return bundle.properties(type).length > 0
}

export const objectsWithoutCsvRule = defineBundleBlobRule<{ bundle: string; objects: number; csvs: number }>({
  id: 'objects-without-csv',
  severity: 'warning',
  title: 'A bundle without an image has exactly one ClusterServiceVersion',
  what: ({ bundle, objects, csvs }) =>
    `${bundle} has no image and ${csvs === 0 ? 'no' : csvs} ClusterServiceVersion${csvs > 1 ? 's' : ''} among its ${objects} object${objects === 1 ? '' : 's'}`,
  why: 'If a bundle has no image, OLM installs the objects in its olm.bundle.object properties, which must include a ClusterServiceVersion.',
  fix: 'Render the bundle from its image, or add all of its manifests.',
  *find(bundle) {
    const objects = bundle.properties('olm.bundle.object')
    if (bundle.blob.image !== '' || objects.length === 0) return
    const csvs = objects.filter(({ value }) => getStringField(value, 'kind') === 'ClusterServiceVersion')
    if (csvs.length !== 1) yield { data: { objects: objects.length, csvs: csvs.length } }
  },
})

export const severalCsvMetadataRule = defineBundleBlobRule<{ bundle: string; count: number }>({
  id: 'several-csv-metadata',
  severity: 'error',
  title: 'A bundle has at most one olm.csv.metadata property',
  what: ({ bundle, count }) => `${bundle} has ${count} properties of type olm.csv.metadata`,
  why: '`opm validate` accepts several olm.csv.metadata properties in a bundle, but the pod that serves the catalog accepts at most one, so it never starts.',
  fix: 'Keep only the olm.csv.metadata property that belongs to this version.',
  *find(bundle) {
    const [first, second, ...more] = bundle.properties('olm.csv.metadata')
    if (first === undefined || second === undefined) return
    const related = [{ at: toFindingLocation(bundle.blob.place, first.mark), note: 'the first property' }]
    yield { mark: second.mark, data: { count: more.length + 2 }, related }
  },
})

/** A DNS-1123 subdomain. */
const dnsSubdomainPattern =
  /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/

export const unusableBundleNameRule = defineBundleBlobRule<{ bundle: string }>({
  id: 'unusable-bundle-name',
  severity: 'warning',
  title: 'Every bundle name is a valid name for a Kubernetes object',
  what: ({ bundle }) => `the bundle name "${bundle}" is not a valid name for a Kubernetes object`,
  why: 'When OLM installs the bundle, it creates a ClusterServiceVersion with this name, and the API server rejects it.',
  fix: 'Use only lowercase letters, digits, dots, and dashes. The usual form is <package>.v<version>.',
  *find({ blob: { name } }) {
    if (name !== '' && !dnsSubdomainPattern.test(name)) yield { data: {} }
  },
})

const canonicalMediaTypeByAlias: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/svg': 'image/svg+xml',
  'image/vnd.microsoft.icon': 'image/x-icon',
}

/** An icon whose bytes do not match its media type. opm's own check is disabled upstream. */
export const iconMismatchRule = defineRule<{ claims: string; looksLike: string; bytes: number }>({
  id: 'icon-mismatch',
  severity: 'warning',
  title: 'Icons match their declared media type',
  what: ({ claims, looksLike, bytes }) =>
    `the icon declares ${claims === '' ? 'no media type' : `the media type "${claims}"`}, but its data is ${
      bytes === 0 ? 'missing' : looksLike === '' ? 'not an image' : looksLike
    }`,
  why: 'Browsers trust the media type that the catalog serves, so they show a broken image.',
  fix: ({ looksLike }) =>
    looksLike.startsWith('image/')
      ? `Set mediatype to ${looksLike}.`
      : 'Replace the icon with an SVG (image/svg+xml) or PNG (image/png) image.',
  *find({ catalog }) {
    for (const { name, place, icon } of catalog.packages) {
      if (icon === undefined) continue
      const claims = icon.mediatype.toLowerCase().split(';')[0]?.trim() ?? ''
      const looksLike = icon.looksLike ?? ''
      if ((canonicalMediaTypeByAlias[claims] ?? claims) === looksLike) continue
      yield {
        at: toFindingLocation(place, icon.mark),
        about: [name],
        data: { claims: icon.mediatype, looksLike, bytes: icon.bytes },
      }
    }
  },
})
