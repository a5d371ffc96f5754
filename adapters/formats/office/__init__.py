"""Documents of office programs and books: zip packages of XML, and their elders."""
