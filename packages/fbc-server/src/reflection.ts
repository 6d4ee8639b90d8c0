// gRPC reflection, so that tools such as grpcurl need no .proto files.
import { status } from '@grpc/grpc-js'
import { describeProtoFiles, type DescribedProtoFile, type ProtoMessage } from './grpc-services.ts'

/** Answers requests of either version of the protocol. */
export function createReflectionHandler(
  services: readonly string[],
): (request: ProtoMessage) => ProtoMessage {
  const files = describeProtoFiles()
  const byName = new Map(files.map((file) => [file.name, file]))

  function collectDependencies(
    file: DescribedProtoFile,
    into = new Map<string, Uint8Array>(),
  ): Map<string, Uint8Array> {
    into.set(file.name, file.bytes)
    for (const name of file.dependencies) {
      const dependency = byName.get(name)
      if (dependency && !into.has(name)) collectDependencies(dependency, into)
    }
    return into
  }

  function toFileResponse(file: DescribedProtoFile | undefined, subject: string): ProtoMessage {
    if (!file) return toErrorResponse(status.NOT_FOUND, `${subject} not found`)
    return { file_descriptor_response: { file_descriptor_proto: [...collectDependencies(file).values()] } }
  }

  function respond(request: ProtoMessage): ProtoMessage {
    const kind = request['message_request']
    const found = typeof kind === 'string' ? request[kind] : undefined
    const query = typeof found === 'string' ? found : ''
    switch (kind) {
      case 'list_services':
        return { list_services_response: { service: services.map((name) => ({ name })) } }
      case 'file_by_filename':
        return toFileResponse(byName.get(query), query)
      case 'file_containing_symbol':
        return toFileResponse(
          files.find(({ symbols }) => symbols.has(query)),
          query,
        )
      case 'all_extension_numbers_of_type':
      case 'file_containing_extension':
        return toErrorResponse(status.NOT_FOUND, 'extensions are not supported')
      default:
        return toErrorResponse(status.INVALID_ARGUMENT, 'the request contains no query')
    }
  }

  return (request) => ({
    valid_host: request['host'],
    original_request: request,
    ...respond(request),
  })
}

function toErrorResponse(code: status, message: string): ProtoMessage {
  return { error_response: { error_code: code, error_message: message } }
}
