// Rules about a ClusterServiceVersion's annotations.
import { defineBundleRule } from '../bundle-rule.ts'
import { getJsonFieldAtPath, getObjectAtPath } from '../fields.ts'

export const propertiesInAnnotationRule = defineBundleRule<Record<never, never>>({
  id: 'properties-in-annotation',
  severity: 'info',
  title: 'Properties are defined in metadata/properties.yaml',
  what: 'properties are set in the olm.properties annotation',
  why: 'opm merges the annotation with metadata/properties.yaml. If the annotation contains invalid JSON, opm only logs an error.',
  fix: 'Move the properties to metadata/properties.yaml.',
  *find({ csv }) {
    if (getJsonFieldAtPath(csv.data, 'metadata', 'annotations', 'olm.properties') !== undefined)
      yield { path: ['metadata', 'annotations', 'olm.properties'], data: {} }
  },
})

const openshiftFeatureNames = [
  'disconnected',
  'fips-compliant',
  'proxy-aware',
  'cnf',
  'cni',
  'csi',
  'tls-profiles',
  'token-auth-aws',
  'token-auth-azure',
  'token-auth-gcp',
]

export const missingFeatureAnnotationRule = defineBundleRule<{ annotation: string }>({
  id: 'missing-feature-annotation',
  severity: 'info',
  suite: 'openshift',
  title: 'A bundle declares the OpenShift features that it supports',
  what: ({ annotation }) => `the annotation ${annotation} is neither "true" nor "false"`,
  why: 'Certification requires this annotation, and OperatorHub on OpenShift uses it to filter Operators.',
  fix: 'Set the annotation to "true" or "false".',
  *find({ csv }) {
    for (const feature of openshiftFeatureNames) {
      const annotation = `features.operators.openshift.io/${feature}`
      const value = getJsonFieldAtPath(csv.data, 'metadata', 'annotations', annotation)
      if (value !== 'true' && value !== 'false')
        yield { path: ['metadata', 'annotations', annotation], data: { annotation } }
    }
  },
})

const olmAnnotationKeys = [
  'olm.operatorGroup',
  'olm.operatorNamespace',
  'olm.targetNamespaces',
  'olm.providedAPIs',
  'olm.skipRange',
]
export const misspeltAnnotationRule = defineBundleRule<{ found: string; wanted: string }>({
  id: 'misspelt-annotation',
  severity: 'error',
  title: 'OLM annotations are spelled correctly',
  what: ({ found, wanted }) => `OLM ignores the annotation ${found}; the correct spelling is ${wanted}`,
  why: "Annotation names are case-sensitive, and OLM doesn't report unknown annotations.",
  fix: ({ wanted }) => `Rename the annotation to ${wanted}.`,
  *find({ csv }) {
    for (const found of Object.keys(getObjectAtPath(csv.data, 'metadata', 'annotations'))) {
      const wanted = olmAnnotationKeys.find((name) => name.toLowerCase() === found.toLowerCase())
      if (wanted !== undefined && wanted !== found)
        yield { path: ['metadata', 'annotations', found], data: { found, wanted } }
    }
  },
})
