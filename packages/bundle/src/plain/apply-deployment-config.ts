// Applies OLM v1's deploymentConfig, which follows a Subscription's config, to all deployments.
import { getField, asList, asObject, asString } from '../fields.ts'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import type { DeploymentConfig, JsonObject, RenderedObject } from './rendering.ts'

export function applyDeploymentConfig(deployment: RenderedObject, config: DeploymentConfig): RenderedObject {
  const spec = asObject(deployment.manifest['spec'])
  const template = asObject(spec['template'])
  const pod = applyConfigToPod(asObject(template['spec']), config)
  const whole = {
    ...deployment.manifest,
    metadata: withAnnotations(deployment.manifest['metadata'], config.annotations),
    spec: {
      ...spec,
      template: {
        ...template,
        metadata: withAnnotations(template['metadata'], config.annotations),
        spec: pod,
      },
    },
  }
  return { ...deployment, manifest: whole }
}

function applyConfigToPod(pod: JsonObject, config: DeploymentConfig): JsonObject {
  const { env, envFrom, volumes, volumeMounts, tolerations, resources, nodeSelector, affinity } = config
  const containers = asList(pod['containers']).map((container) => ({
    ...asObject(container),
    ...(env && env.length > 0 && { env: overrideEntriesByName(getField(container, 'env'), env) }),
    ...(envFrom &&
      envFrom.length > 0 && { envFrom: appendMissingEntries(getField(container, 'envFrom'), envFrom) }),
    ...(volumeMounts &&
      volumeMounts.length > 0 && {
        volumeMounts: overrideEntriesByName(getField(container, 'volumeMounts'), volumeMounts),
      }),
    ...(resources && { resources }),
  }))
  return {
    ...pod,
    ...(pod['containers'] !== undefined && { containers }),
    ...(volumes && volumes.length > 0 && { volumes: overrideEntriesByName(pod['volumes'], volumes) }),
    ...(tolerations &&
      tolerations.length > 0 && { tolerations: appendMissingEntries(pod['tolerations'], tolerations) }),
    ...(nodeSelector && { nodeSelector }),
    ...(affinity && { affinity: mergeAffinity(asObject(pod['affinity']), affinity) }),
  }
}

/** An entry replaces the original entry with its name, or the last one if there are several. */
function overrideEntriesByName(list: Json | undefined, entries: readonly JsonObject[]): readonly Json[] {
  const result = [...asList(list)]
  const before = result.map((entry) => asString(getField(entry, 'name')))
  for (const entry of entries) {
    const index = before.lastIndexOf(asString(entry['name']))
    if (index >= 0) result[index] = entry
    else result.push(entry)
  }
  return result
}

/** Skips entries that are already present. */
function appendMissingEntries(list: Json | undefined, entries: readonly JsonObject[]): readonly Json[] {
  const result = [...asList(list)]
  for (const entry of entries)
    if (!result.some((other) => toCanonicalJson(other) === toCanonicalJson(entry))) result.push(entry)
  return result
}

const requiredSchedulingField = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferredSchedulingField = 'preferredDuringSchedulingIgnoredDuringExecution'

/**
 * An empty affinity erases the whole affinity, and an empty part erases that part. Other parts replace the existing
 * ones.
 */
function mergeAffinity(before: JsonObject, affinity: JsonObject): JsonObject {
  const result: Record<string, Json> = { ...before }
  const parts = ['nodeAffinity', 'podAffinity', 'podAntiAffinity'].filter((part) => isPresent(affinity[part]))
  if (parts.length === 0) return {}
  for (const part of parts)
    if (isEmptyAffinity(affinity[part])) delete result[part]
    else result[part] = affinity[part] ?? null
  return Object.values(result).every(isEmptyAffinity) ? {} : result
}

function isPresent(value: Json | undefined): boolean {
  return value !== undefined && value !== null
}

function isEmptyAffinity(part: Json | undefined): boolean {
  const requiredTerms = getField(part, requiredSchedulingField)
  const terms = Array.isArray(requiredTerms)
    ? requiredTerms
    : asList(getField(requiredTerms, 'nodeSelectorTerms'))
  return terms.length === 0 && asList(getField(part, preferredSchedulingField)).length === 0
}

function withAnnotations(
  metadata: Json | undefined,
  annotations: DeploymentConfig['annotations'],
): JsonObject {
  const before = asObject(metadata)
  if (!annotations || Object.keys(annotations).length === 0) return before
  return { ...before, annotations: { ...annotations, ...asObject(before['annotations']) } }
}

function toCanonicalJson(value: Json): string {
  return JSON.stringify(value, (_key, inner: Json) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
