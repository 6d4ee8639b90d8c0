// Applies OLM v1's deploymentConfig, which follows a Subscription's config, to all deployments.
import { at, listOf, objectOf, textOf } from '../fields.ts'
import type { Json } from '../../go/json/json.ts'
import type { DeploymentConfig, JsonObject, PlainObject } from './rendering.ts'

export function configuredDeployment(deployment: PlainObject, config: DeploymentConfig): PlainObject {
  const spec = objectOf(deployment.manifest['spec'])
  const template = objectOf(spec['template'])
  const pod = configuredPod(objectOf(template['spec']), config)
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

function configuredPod(pod: JsonObject, config: DeploymentConfig): JsonObject {
  const { env, envFrom, volumes, volumeMounts, tolerations, resources, nodeSelector, affinity } = config
  const containers = listOf(pod['containers']).map((container) => ({
    ...objectOf(container),
    ...(env && env.length > 0 && { env: overridden(at(container, 'env'), env) }),
    ...(envFrom && envFrom.length > 0 && { envFrom: joined(at(container, 'envFrom'), envFrom) }),
    ...(volumeMounts &&
      volumeMounts.length > 0 && { volumeMounts: overridden(at(container, 'volumeMounts'), volumeMounts) }),
    ...(resources && { resources }),
  }))
  return {
    ...pod,
    ...(pod['containers'] !== undefined && { containers }),
    ...(volumes && volumes.length > 0 && { volumes: overridden(pod['volumes'], volumes) }),
    ...(tolerations && tolerations.length > 0 && { tolerations: joined(pod['tolerations'], tolerations) }),
    ...(nodeSelector && { nodeSelector }),
    ...(affinity && { affinity: mergedAffinity(objectOf(pod['affinity']), affinity) }),
  }
}

/** An entry replaces the one of its name that was there before all of these; the last of several such. */
function overridden(list: Json | undefined, entries: readonly JsonObject[]): readonly Json[] {
  const result = [...listOf(list)]
  const before = result.map((entry) => textOf(at(entry, 'name')))
  for (const entry of entries) {
    const index = before.lastIndexOf(textOf(entry['name']))
    if (index >= 0) result[index] = entry
    else result.push(entry)
  }
  return result
}

/** Skips entries that are already present. */
function joined(list: Json | undefined, entries: readonly JsonObject[]): readonly Json[] {
  const result = [...listOf(list)]
  for (const entry of entries)
    if (!result.some((other) => canonical(other) === canonical(entry))) result.push(entry)
  return result
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'

/**
 * An affinity with nothing in it erases all; a part with nothing in it erases that part; other parts replace theirs.
 */
function mergedAffinity(before: JsonObject, affinity: JsonObject): JsonObject {
  const result: Record<string, Json> = { ...before }
  const parts = ['nodeAffinity', 'podAffinity', 'podAntiAffinity'].filter((part) => isThere(affinity[part]))
  if (parts.length === 0) return {}
  for (const part of parts)
    if (isEmpty(affinity[part])) delete result[part]
    else result[part] = affinity[part] ?? null
  return Object.values(result).every(isEmpty) ? {} : result
}

function isThere(value: Json | undefined): boolean {
  return value !== undefined && value !== null
}

function isEmpty(part: Json | undefined): boolean {
  const demanded = at(part, required)
  const terms = Array.isArray(demanded) ? demanded : listOf(at(demanded, 'nodeSelectorTerms'))
  return terms.length === 0 && listOf(at(part, preferred)).length === 0
}

function withAnnotations(
  metadata: Json | undefined,
  annotations: DeploymentConfig['annotations'],
): JsonObject {
  const before = objectOf(metadata)
  if (!annotations || Object.keys(annotations).length === 0) return before
  return { ...before, annotations: { ...annotations, ...objectOf(before['annotations']) } }
}

function canonical(value: Json): string {
  return JSON.stringify(value, (_key, inner: Json) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
