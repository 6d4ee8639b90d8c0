// Fields of manifests, indexes and image configs (OCI image-spec: manifest.md, image-index.md, config.md; Docker's
// formats). Fields that no reader uses by name are omitted.
import type { JsonShape } from './strict-json.ts'

const stringListShape: JsonShape = { list: 'string' }
const annotationsShape: JsonShape = { map: 'string' }
/** A set, as Go writes it: keys with empty objects. */
const emptyObjectsShape: JsonShape = { map: { fields: {} } }

const platformFields = {
  architecture: 'string',
  os: 'string',
  'os.version': 'string',
  'os.features': stringListShape,
  variant: 'string',
} as const

const descriptorShape: JsonShape = {
  fields: {
    mediaType: 'string',
    digest: 'string',
    size: 'integer',
    urls: stringListShape,
    annotations: annotationsShape,
    data: 'bytes',
    artifactType: 'string',
    platform: { fields: { ...platformFields, features: stringListShape } },
  },
}

export const manifestShape: JsonShape = {
  fields: {
    schemaVersion: 'integer',
    mediaType: 'string',
    artifactType: 'string',
    config: descriptorShape,
    layers: { list: descriptorShape },
    manifests: { list: descriptorShape },
    subject: descriptorShape,
    annotations: annotationsShape,
    name: 'any',
    tag: 'any',
    architecture: 'any',
    fsLayers: 'any',
    history: 'any',
    signatures: 'any',
  },
}

export const configShape: JsonShape = {
  fields: {
    ...platformFields,
    created: 'string',
    author: 'string',
    config: {
      fields: {
        User: 'string',
        ExposedPorts: emptyObjectsShape,
        Env: stringListShape,
        Entrypoint: stringListShape,
        Cmd: stringListShape,
        Volumes: emptyObjectsShape,
        WorkingDir: 'string',
        Labels: annotationsShape,
        StopSignal: 'string',
        ArgsEscaped: 'boolean',
      },
    },
    rootfs: { fields: { type: 'string', diff_ids: stringListShape } },
    history: {
      list: {
        fields: {
          created: 'string',
          created_by: 'string',
          author: 'string',
          comment: 'string',
          empty_layer: 'boolean',
        },
      },
    },
  },
}
