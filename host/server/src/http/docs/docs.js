// Renders /openapi.json. Text only ever becomes text nodes: nothing in the document is markup.
"use strict";

const METHODS = ["get", "post", "put", "patch", "delete"];

function element(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

function schemaName(reference) {
  return reference.split("/").pop();
}

function typeOf(schema) {
  if (!schema) return ["any"];
  if (schema.$ref) {
    const name = schemaName(schema.$ref);
    return [element("a", { href: "#schema-" + name }, name)];
  }
  const variants = schema.oneOf || schema.anyOf || schema.allOf;
  if (variants) {
    const separator = schema.allOf ? " and " : " or ";
    return variants.flatMap((variant, i) => (i ? [separator] : []).concat(typeOf(variant)));
  }
  if (schema.enum) return [schema.enum.map((value) => JSON.stringify(value)).join(", ")];
  const types = [].concat(schema.type || "any");
  if (types.includes("array")) return ["list of ", ...typeOf(schema.items)];
  return [types.join(" or ")];
}

function properties(schema) {
  const rows = Object.entries(schema.properties || {}).map(([name, property]) => {
    const required = (schema.required || []).includes(name);
    return element("tr", {},
      element("td", {}, element("code", {}, name), required ? "" : element("span", { class: "hint" }, " optional")),
      element("td", {}, typeOf(property)),
      element("td", {}, property.description || ""));
  });
  return rows.length ? element("table", {}, element("tbody", {}, rows)) : null;
}

function schemaBody(schema) {
  const parts = [];
  if (schema.description) parts.push(element("p", {}, schema.description));
  for (const part of [schema].concat(schema.allOf || [], schema.oneOf || [], schema.anyOf || [])) {
    if (part.properties) parts.push(properties(part));
    else if (part !== schema || !(schema.allOf || schema.oneOf || schema.anyOf)) {
      parts.push(element("p", {}, typeOf(part)));
    }
  }
  return parts;
}

function parameterRows(parameters) {
  return element("table", {}, element("tbody", {}, parameters.map((parameter) =>
    element("tr", {},
      element("td", {}, element("code", {}, parameter.name), element("span", { class: "hint" }, " " + parameter.in)),
      element("td", {}, typeOf(parameter.schema)),
      element("td", {}, parameter.description || "")))));
}

function content(body) {
  return Object.entries((body && body.content) || {}).map(([mediaType, value]) =>
    element("div", {}, element("code", {}, mediaType), " ", typeOf(value.schema)));
}

function operation(path, method, details) {
  const parts = [element("p", {}, details.description || "")];
  if (details.parameters && details.parameters.length) {
    parts.push(element("h4", {}, "Parameters"), parameterRows(details.parameters));
  }
  if (details.requestBody) {
    parts.push(element("h4", {}, "Body"), element("p", {}, details.requestBody.description || ""), content(details.requestBody));
  }
  parts.push(element("h4", {}, "Answers"), element("table", {}, element("tbody", {},
    Object.entries(details.responses || {}).map(([status, response]) => element("tr", {},
      element("td", {}, element("code", {}, status)),
      element("td", {}, content(response)),
      element("td", {}, response.description || ""))))));
  return element("details", { id: details.operationId || "" },
    element("summary", {}, element("span", { class: "method" }, method.toUpperCase()), element("code", {}, path),
      " ", element("span", { class: "hint" }, details.summary || "")),
    element("div", {}, parts));
}

function render(api) {
  document.title = api.info.title + " API";
  document.getElementById("title").textContent = api.info.title + " " + api.info.version;
  document.getElementById("description").textContent = api.info.description || "";
  const byTag = new Map();
  for (const [path, item] of Object.entries(api.paths)) {
    for (const method of METHODS.filter((method) => item[method])) {
      const tag = (item[method].tags || ["other"])[0];
      if (!byTag.has(tag)) byTag.set(tag, []);
      byTag.get(tag).push(operation(path, method, item[method]));
    }
  }
  const routes = document.getElementById("routes");
  routes.replaceChildren(...[...byTag].flatMap(([tag, operations]) => [element("h2", {}, tag), ...operations]));
  const schemas = Object.entries((api.components && api.components.schemas) || {});
  document.getElementById("schemas").replaceChildren(element("h2", {}, "schemas"),
    ...schemas.map(([name, schema]) => element("details", { id: "schema-" + name },
      element("summary", {}, element("code", {}, name)), element("div", {}, schemaBody(schema)))));
}

// A link to a schema opens it.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === "DETAILS") target.open = true;
}

fetch("/openapi.json")
  .then((response) => response.ok ? response.json() : Promise.reject(new Error("status " + response.status)))
  .then((api) => { render(api); openTarget(); })
  .catch((error) => { document.getElementById("routes").textContent = "The description could not be loaded: " + error.message; });
window.addEventListener("hashchange", openTarget);
